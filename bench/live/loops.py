"""A loop of Python whose one operation computes, and writes and reads a byte by a pipe: as loops.c, with the same words.

    loops.py WORKLOAD SECONDS [CPU]     prints "ready"; runs when a byte comes; prints "OPS NS CALLS"
"""
import os
import sys
import time

BATCH = 16
ends = os.pipe()


def weigh(seed):
    for _ in range(200):
        seed = (seed * 6364136223846793005 + 1442695040888963407) & 0xFFFFFFFFFFFFFFFF
    return seed


def batch(seed):
    for _ in range(BATCH):
        seed = weigh(seed)
        os.write(ends[1], b"x")
        os.read(ends[0], 1)
    return seed


seconds = float(sys.argv[2])
if len(sys.argv) > 3:
    os.sched_setaffinity(0, [int(sys.argv[3])])
seed = batch(1)
os.write(1, b"ready\n")
if not os.read(0, 1):
    sys.exit(1)
operations, start = 0, time.monotonic_ns()
while time.monotonic_ns() < start + seconds * 1e9:
    seed = batch(seed)
    operations += BATCH
os.write(1, b"%d %d %d\n" % (operations, time.monotonic_ns() - start, 2 * operations))
# The tool is stopped before the program ends: waits to be told.
os.read(0, 1)
