"""Recommends: the neighbours of what somebody looks at are rows of one large table on the disk, which a few workers read."""
import concurrent.futures
import json
import os
import random
import threading
import time
import zlib

ROW = @{kb} * 1024


class Table:
    def __init__(self, path):
        self.file = os.open(path, os.O_RDONLY)
        self.rows = os.fstat(self.file).st_size // ROW
        self.next = 0
        self.lock = threading.Lock()

    def warm(self):
        offset = 0
        while part := os.pread(self.file, 1 << 20, offset):
            offset += len(part)

    def choose(self, chance):
        if "@{order}" == "any":
            return chance.randrange(self.rows)
        with self.lock:
            self.next += 1
            return self.next % self.rows

    def @{fn}(self, numbers):
        return [os.pread(self.file, ROW, number * ROW) for number in numbers]


def recommend(table, chance):
    start = time.monotonic()
    rows = table.@{fn}([table.choose(chance) for _ in range(@{reads})])
    took = time.monotonic() - start
    score = 0
    for row in rows:
        for _ in range(@{rounds}):
            score ^= zlib.adler32(row[:2048])
    return time.monotonic() - start, took, score


def main():
    with open("/sys/fs/cgroup/memory/@{slice}/cgroup.procs", "w") as group:
        group.write(str(os.getpid()))
    table, chance = Table("@{work}/@{data}"), random.Random(3)
    if "@{order}" == "any":
        table.warm()
    units, busy, reading = 0, 0.0, 0.0
    end = due = time.monotonic()
    end += @{seconds}
    with concurrent.futures.ThreadPoolExecutor(2, "recommend") as pool:
        while time.monotonic() < end:
            for answer in [pool.submit(recommend, table, chance) for _ in range(2)]:
                one, took, _ = answer.result()
                units += 1
                busy += one
                reading += took
            due = max(due + 2 / @{per_s}, time.monotonic())
            time.sleep(max(0.0, due - time.monotonic()))
    with open("@{report}", "w") as out:
        json.dump({"units": units, "seconds": busy, "culprit": reading}, out)


main()
