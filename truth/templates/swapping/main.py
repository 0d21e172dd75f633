"""Matches what comes in against all that was seen, which is held in memory."""
import json
import os
import random
import time
import zlib

SIZE = @{kb} * 1024


class Seen:
    def __init__(self, megabytes):
        self.entries = {}
        for number in range(megabytes * 2**20 // SIZE):
            self.entries[number] = bytearray(os.urandom(64) * (SIZE // 64))
        self.spent = 0.0

    def @{fn}(self, numbers):
        start = time.monotonic()
        found = 0
        for number in numbers:
            entry = self.entries[number]
            entry[0] = number & 255
            found += sum(entry[::1024])
        self.spent += time.monotonic() - start
        return found


def main():
    with open("/sys/fs/cgroup/memory/@{slice}/cgroup.procs", "w") as group:
        group.write(str(os.getpid()))
    seen, chance = Seen(@{heap_mb}), random.Random(2)
    hot = min(len(seen.entries), @{hot_mb} * 2**20 // SIZE)
    if hot < len(seen.entries) / 3:
        seen.@{fn}(range(hot))
        seen.spent = 0.0
    began = due = time.monotonic()
    units, busy, mark = 0, 0.0, 0
    while time.monotonic() - began < @{seconds}:
        start = time.monotonic()
        numbers = [chance.randrange(hot) for _ in range(@{touches})]
        seen.@{fn}(numbers)
        for _ in range(@{rounds}):
            mark ^= zlib.crc32(seen.entries[numbers[0]])
        busy += time.monotonic() - start
        units += 1
        due = max(due + 1 / @{per_s}, time.monotonic())
        time.sleep(max(0.0, due - time.monotonic()))
    with open("@{report}", "w") as out:
        json.dump({"units": units, "seconds": busy, "culprit": seen.spent}, out)


main()
