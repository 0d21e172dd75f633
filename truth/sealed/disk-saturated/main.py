"""Cuts pieces out of a recording for those who ask: a child for each of them."""
import json
import os
import random
import time
import zlib


def @{fn}(file, size, chance):
    start = time.monotonic()
    pieces = []
    for _ in range(@{reads}):
        offset = chance.randrange(size // 8192) * 8192
        pieces.append(os.pread(file, 8192, offset))
        # Nobody asks for the same piece again.
        os.posix_fadvise(file, offset, 8192, os.POSIX_FADV_DONTNEED)
    return pieces, time.monotonic() - start


def listener(number, end, answer):
    chance = random.Random(number)
    file = os.open("@{work}/@{disk}/@{data}", os.O_RDONLY)
    size = os.fstat(file).st_size
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_RANDOM)
    units, busy, reading, sums = 0, 0.0, 0.0, 0
    due = time.monotonic() + chance.random() / @{per_s}
    while time.monotonic() < end:
        time.sleep(max(0.0, due - time.monotonic()))
        start = time.monotonic()
        pieces, took = @{fn}(file, size, chance)
        for _ in range(@{rounds}):
            sums += zlib.crc32(pieces[0])
        units += 1
        busy += time.monotonic() - start
        reading += took
        due = max(due + 1 / @{per_s}, time.monotonic())
    os.write(answer, json.dumps([units, busy, reading]).encode() + b"\n")
    os._exit(0)


def main():
    end = time.monotonic() + @{seconds}
    results, answer = os.pipe()
    # The recording was just made; what is in memory of it is let go.
    with open("@{work}/@{disk}/@{data}", "rb") as recording:
        os.posix_fadvise(recording.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    for number in range(@{readers}):
        if os.fork() == 0:
            listener(number, end, answer)
    os.close(answer)
    with open(results) as lines:
        rows = [json.loads(line) for line in lines]
    units, busy, reading = (sum(column) for column in zip(*rows))
    with open("@{report}", "w") as out:
        json.dump({"units": units, "seconds": busy, "culprit": reading}, out)


main()
