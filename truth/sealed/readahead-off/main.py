import json
import mmap
import os
import random
import socket
import time
import zlib

ADVICE = {"random": mmap.MADV_RANDOM, "sequential": mmap.MADV_SEQUENTIAL}["@{advice}"]
spent = {"units": 0, "seconds": 0.0, "culprit": 0.0}
chance = random.Random(5)


def @{fn}(view, places):
    """A sum over the pages at the places."""
    start = time.monotonic()
    total = 0
    for at in places:
        total = zlib.adler32(view[at:at + 4096], total)
    spent["culprit"] += time.monotonic() - start
    return total


def @{fn2}(path):
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as view:
        view.madvise(ADVICE)
        if @{samples}:
            places = [chance.randrange(@{rows} - 1) * 4096 for _ in range(@{samples})]
        else:
            places = range(0, len(view), 4096)
        return @{fn}(view, places)


def main():
    courier = socket.create_connection(("127.0.0.1", @{port}))
    courier.sendall(b"%.3f %d\n" % (@{load} * 12000 / @{rows}, @{rows}))
    end = time.monotonic() + @{seconds}
    sums = {}
    for line in courier.makefile():
        path = line.rstrip()
        start = time.monotonic()
        sums[spent["units"] % 100] = @{fn2}(path)
        spent["units"] += 1
        spent["seconds"] += time.monotonic() - start
        os.unlink(path)
        if time.monotonic() >= end:
            break
    with open("@{report}", "w") as out:
        json.dump(spent, out)


main()
