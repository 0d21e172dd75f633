"""Answers from a big table in memory; the index is a file that is mapped for each question."""
import hashlib
import json
import mmap
import os
import time

spent = 0.0


def @{fn}(index, word):
    global spent
    asked = time.monotonic()
    mapped = mmap.mmap(index.fileno(), 0, access=mmap.ACCESS_READ)
    spent += time.monotonic() - asked
    place = word * 7919 % (len(mapped) - 64)
    found = mapped[place:place + 64]
    asked = time.monotonic()
    mapped.close()
    spent += time.monotonic() - asked
    return found


def @{fn2}(found):
    for _ in range(@{extra} * 8):
        found = hashlib.sha256(found).digest()
    return found


def main():
    table = mmap.mmap(-1, @{held_mb} << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    table.madvise(mmap.MADV_NOHUGEPAGE)
    for place in range(0, len(table), 4096):
        table[place] = 1
    with open("@{work}/server.tmp", "w") as out:
        out.write(str(os.getpid()))
    os.rename("@{work}/server.tmp", "@{work}/server.pid")
    units, busy = 0, 0.0
    began = time.monotonic()
    with open("@{work}/@{index}", "rb") as index:
        while time.monotonic() - began < @{seconds}:
            start = time.monotonic()
            for part in range(@{maps}):
                @{fn2}(@{fn}(index, units * 17 + part) + table[units:units + 8])
            units += 1
            busy += time.monotonic() - start
            time.sleep(max(0.0, began + units / @{rate} - time.monotonic()))
    with open("@{report}", "w") as out:
        json.dump({"units": units, "seconds": busy, "culprit": spent}, out)


main()
