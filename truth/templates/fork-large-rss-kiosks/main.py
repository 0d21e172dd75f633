"""Sells tickets for ferries: prices and places are in memory; the printer has a program of its own."""
import array
import json
import os
import sys
import time

PROGRAM = "@{work}/bin/@{tool}"


class Fares:
    """Cents by harbour and harbour; how many were sold."""

    def __init__(self, size):
        pattern = array.array("I", (190 + i * 7 % 9000 for i in range(1 << 16)))
        self.cents = array.array("I")
        while len(self.cents) * 4 < size:
            self.cents.extend(pattern)
        self.sold = {}

    def cheapest(self, start, end):
        cents, size, best = self.cents, len(self.cents), 1 << 30
        for over in range(@{looks}):
            price = cents[(start * 4096 + over * 131) % size] + cents[(end * 4096 + over * 17) % size]
            if price < best:
                best = price
        at = (start * 4096 + end) % size
        # Who sells most becomes a little dearer.
        cents[at] = min(20000, cents[at] + 1)
        self.sold[start, end] = self.sold.get((start, end), 0) + 1
        return min(best, cents[at])


class Printer:
    def __init__(self):
        self.spent = 0.0

    def @{fn}(self, words):
        asked = time.monotonic()
        if "@{how}" == "spawn":
            pid = os.posix_spawn(PROGRAM, [PROGRAM, *words], os.environ)
        else:
            pid = os.fork()
            if pid == 0:
                try:
                    os.execv(PROGRAM, [PROGRAM, *words])
                finally:
                    os._exit(127)
        self.spent += time.monotonic() - asked
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def main():
    fares, printer = Fares(@{held_mb} << 20), Printer()
    units, busy, began = 0, 0.0, time.monotonic()
    due = began
    while time.monotonic() - began < @{seconds}:
        due = max(due + 1 / @{rate}, time.monotonic())
        time.sleep(max(0.0, due - time.monotonic()))
        start = time.monotonic()
        one, two = units * 37 % 4096, units * 101 % 4096
        cents = fares.cheapest(one, two)
        if printer.@{fn}([str(one), str(two), f"{cents / 100:.2f}"]):
            sys.exit("no ticket")
        busy += time.monotonic() - start
        units += 1
    with open("@{report}", "w") as out:
        json.dump({"units": units, "seconds": busy, "culprit": printer.spent}, out)


main()
