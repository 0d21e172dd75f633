"""Takes the sales of a hosting service's shops, and writes each to the end of the shop's book."""
import json
import time
import zlib

SHOPS = @{shops}


class Till:
    def __init__(self):
        self.writing, self.number = 0.0, 0

    def @{fn}(self, shop, line):
        start = time.perf_counter()
        with open(f"@{work}/@{at}/shop-{shop}.book", "ab") as book:
            book.write(line)
        self.writing += time.perf_counter() - start

    def sell(self):
        lines = [(article % 977, 199 + article * 7 % 4000) for article in range(self.number, self.number + @{lines})]
        text = ";".join(f"{article}:{cents}" for article, cents in lines).encode()
        total = sum(cents for _, cents in lines)
        self.@{fn}(self.number % SHOPS + 1, b"%d;%d;%08x\n" % (self.number, total, zlib.crc32(text)))
        self.number += 1


def main():
    till, busy, began = Till(), 0.0, time.perf_counter()
    while time.perf_counter() - began < @{seconds}:
        start = time.perf_counter()
        till.sell()
        busy += time.perf_counter() - start
        time.sleep(max(0.0, start + 1 / @{rate} - time.perf_counter()))
    with open("@{report}", "w") as report:
        json.dump({"units": till.number, "seconds": busy, "culprit": till.writing}, report)


main()
