import gc

import json
import time

now = time.monotonic


def wait_until(due):
    time.sleep(max(0.0, due - now()))


def report(units, busy, culprit):
    with open("@{report}", "w") as out:
        json.dump({"units": units, "seconds": busy, "culprit": culprit}, out)

class Account:
    def __init__(self, number):
        self.number, self.balance, self.entries = number, 0, [number]


class Ledger:
    """All accounts, each of which can be reached from its neighbour."""

    def __init__(self, size):
        self.accounts = [Account(n) for n in range(size)]
        for one, other in zip(self.accounts, self.accounts[1:]):
            one.neighbour = other
        self.collecting = 0.0

    def @{fn}(self, page, count):
        total = 0
        for n in range(page * count, (page + 1) * count):
            account = self.accounts[n % len(self.accounts)]
            account.balance += n & 15
            total += account.balance
        if @{reuse} == 0:
            start = now()
            gc.collect()
            self.collecting += now() - start
        return total


def main():
    ledger = Ledger(@{live} // 2)
    if @{reuse}:
        gc.freeze()
    units, busy, pages = 0, 0.0, 4
    began = now()
    while now() - began < @{seconds}:
        start = now()
        for page in range(pages):
            ledger.@{fn}(units * pages + page, max(10, @{used} // 200))
        units += 1
        busy += now() - start
        wait_until(began + units / @{rate})
    report(units, busy, ledger.collecting)


main()
