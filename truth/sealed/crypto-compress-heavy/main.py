import zlib

import json
import time

now = time.monotonic


def wait_until(due):
    time.sleep(max(0.0, due - now()))


def report(units, busy, culprit):
    with open("@{report}", "w") as out:
        json.dump({"units": units, "seconds": busy, "culprit": culprit}, out)

class Export:
    def __init__(self, kb):
        row = "%06d;item %d;%d.%02d EUR;in stock since week %d\n"
        self.text, n = "", 0
        rows = []
        while len(rows) * 44 < kb * 1024:
            n += 1
            rows.append(row % (n * 7919 % 999983, n, n * 31 % 977, n % 100, n % 53))
        self.text = "".join(rows).encode()
        self.packed, self.packing = None, 0.0

    def @{fn}(self):
        start = now()
        packed = zlib.compress(self.text, 9)
        self.packing += now() - start
        return packed

    def answer(self):
        if @{again} or self.packed is None:
            self.packed = self.@{fn}()
        return self.packed


def main():
    export = Export(@{used})
    export.answer()
    export.packing = 0.0
    units, busy = 0, 0.0
    began = now()
    while now() - began < @{seconds}:
        start = now()
        export.answer()
        units += 1
        busy += now() - start
        wait_until(began + units / @{rate})
    report(units, busy, export.packing)


main()
