"""Packs the numbers that were given to invoices, for the auditors."""
import fcntl
import os
import time
import zlib

NUMBERS, PACKED = "@{work}/@{numbers}", "@{work}/@{packed}"


def rows(last):
    return "".join(f"{last - n:010d};{n * 7919 % 99991:05d};invoice;{(last - n) * 31 % 9973}\n" for n in range(@{pack}))


def @{fn}():
    with open(NUMBERS, "r+b") as numbers:
        fcntl.flock(numbers, fcntl.LOCK_EX)
        last = int(numbers.read() or b"0")
        if @{inside}:
            keep(zlib.compress(rows(last).encode(), 9))
        fcntl.flock(numbers, fcntl.LOCK_UN)
    if not @{inside}:
        keep(zlib.compress(rows(last).encode(), 9))


def keep(packed):
    with open(PACKED, "wb") as out:
        out.write(packed)


with open(NUMBERS + ".new", "w") as first:
    first.write("100000")
os.rename(NUMBERS + ".new", NUMBERS)
while True:
    @{fn}()
    time.sleep(@{every} / 1000)
