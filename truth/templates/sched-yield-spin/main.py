"""A parent that reads counters and a child that writes them out: shared memory between them."""
import json
import mmap
import os
import struct
import time
import zlib

board = mmap.mmap(-1, 4096)
bell_in, bell_out = os.pipe()


def @{fn}(seen):
    """The number of readings, when there are more than `seen`."""
    for _ in range(@{rounds}):
        count, = struct.unpack_from("q", board)
        if count != seen:
            return count
        os.sched_yield()
    while (count := struct.unpack_from("q", board)[0]) == seen:
        os.read(bell_in, 64)
    return count


def write_out():
    seen = units = 0
    busy = culprit = 0.0
    while True:
        start = time.monotonic()
        seen = @{fn}(seen)
        if @{rounds} > 1000:
            culprit += time.monotonic() - start
            busy += time.monotonic() - start
        if seen < 0:
            break
        start = time.monotonic()
        while time.monotonic() - start < @{effort} / 1000:
            zlib.crc32(board[:1024])
        units += 1
        busy += time.monotonic() - start
    with open("@{report}", "w") as out:
        json.dump({"units": units, "seconds": busy, "culprit": culprit}, out)


def main():
    child = os.fork()
    if not child:
        write_out()
        os._exit(0)
    began, count = time.monotonic(), 0
    while time.monotonic() - began < @{seconds}:
        time.sleep(@{gap} / 1000)
        count += 1
        struct.pack_into("q", board, 0, count)
        os.write(bell_out, b"!")
    struct.pack_into("q", board, 0, -1)
    os.write(bell_out, b"!")
    os.waitpid(child, 0)


main()
