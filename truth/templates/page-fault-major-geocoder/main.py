"""Answers customs: which numbers of goods are on the lists of what may not leave the country. A consignment at a time."""
import hashlib
import json
import mmap
import struct
import time

PAGE = 4096


class Lists:
    """What may not leave, as a file of pages in the order of hashes."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            # Hashes are never beside each other.
            self.data.madvise(mmap.MADV_RANDOM)
            if @{preload}:
                while file.read(1 << 20):
                    pass
        self.pages = len(self.data) // PAGE
        if @{preload}:
            print("the lists are there:", sum(self.data[page * PAGE] for page in range(self.pages)))
        self.pages //= @{part}

    def @{fn}(self, key):
        page = key % self.pages
        for _ in range(@{hops}):
            found, = struct.unpack_from("<Q", self.data, page * PAGE + key % 500 * 8)
            page = (found ^ key) % self.pages
        return found


def consignment(number):
    return [f"{8400 + (number * 7 + item) % 900}.{item * 31 % 90:02}/{number}" for item in range(@{parcels})]


def key_of(goods):
    return int.from_bytes(hashlib.blake2b(goods.encode(), digest_size=8).digest(), "little")


def duty(goods, mark):
    """By chapter, and by what the mark says; rounded as the law wants it."""
    chapter, _, rest = goods.partition(".")
    rate, total = int(chapter) % 17 / 100, 0.0
    for part in range(@{rounds} * 150):
        total += round((mark >> part % 40 & 0xFFFF) * rate / (part + 1), 2)
    return total + len(rest)


def main():
    lists = Lists("@{work}/@{volume}/@{register}")
    totals = {"units": 0, "seconds": 0.0, "culprit": 0.0}
    owed = 0.0
    began = time.monotonic()
    while time.monotonic() - began < @{seconds}:
        start = time.monotonic()
        goods = consignment(totals["units"])
        keys = [key_of(one) for one in goods]
        asked = time.monotonic()
        marks = [lists.@{fn}(key) for key in keys]
        totals["culprit"] += time.monotonic() - asked
        owed += sum(duty(one, mark) for one, mark in zip(goods, marks))
        totals["units"] += 1
        totals["seconds"] += time.monotonic() - start
        time.sleep(max(0.0, began + totals["units"] / @{rate} - time.monotonic()))
    with open("@{report}", "w") as out:
        json.dump(totals, out)
    print(round(owed, 2))


main()
