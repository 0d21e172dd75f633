import hashlib
import json
import os
import time

ROW = 30  # number, kind, credit, discount
BLOCK = @{block} - @{block} % ROW


class Subscribers:
    def __init__(self, path, keep):
        self.fd = os.open(path, os.O_RDONLY)
        self.known = None
        if keep:
            self.known = {}
            for rows in self.blocks():
                for at in range(0, len(rows), ROW):
                    self.known[rows[at:at + 8]] = rows[at:at + ROW]

    def blocks(self):
        start = 0
        while True:
            rows = os.pread(self.fd, BLOCK, start)
            yield rows
            start += len(rows)
            if len(rows) < BLOCK:
                return

    def @{fn}(self, transponder):
        if self.known is not None:
            return self.parse(self.known.get(transponder))
        for rows in self.blocks():
            at = rows.find(transponder)
            while at >= 0 and at % ROW:
                at = rows.find(transponder, at + 1)
            if at >= 0:
                return self.parse(rows[at:at + ROW])
        return None

    @staticmethod
    def parse(row):
        if row is None:
            return None
        _, kind, credit, discount = row.split()
        return kind, int(credit), int(discount)


def passage(n):
    noise = hashlib.sha1(b"%d/%d" % (@{seed}, n)).digest()
    number = (1 + int.from_bytes(noise[:4], "little") % (@{rows} + @{rows} // 4)) * 7919 % 100000007
    return b"%08d" % number, noise[4] % @{gates}, 3 + noise[5] % 80


def price(km, subscriber):
    if subscriber is None:
        return km * 9 + 150
    kind, credit, discount = subscriber
    cents = km * (21 if kind == b"truck" else 9)
    return cents * (100 - discount) // 100 if credit > cents else cents + 150


def main():
    subscribers = Subscribers("@{list}", @{keep} == 1)
    takings = [0] * @{gates}
    seal = hashlib.sha256()
    units, busy, culprit = 0, 0.0, 0.0
    began = time.monotonic()
    while time.monotonic() - began < @{seconds}:
        start = time.monotonic()
        transponder, gate, km = passage(units)
        asked = time.monotonic()
        subscriber = subscribers.@{fn}(transponder)
        culprit += time.monotonic() - asked
        cents = price(km, subscriber)
        takings[gate] += cents
        seal.update(b"%s;%d;%d\n" % (transponder, gate, cents))
        units += 1
        busy += time.monotonic() - start
        time.sleep(max(0.0, began + units / @{rate} - time.monotonic()))
    print(f"{units} passages, seal {seal.hexdigest()[:12]}, best gate {takings.index(max(takings))}")
    with open("@{report}", "w") as out:
        json.dump({"units": units, "seconds": busy, "culprit": culprit}, out)


main()
