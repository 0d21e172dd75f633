"""Makes the statistics of a table of readings: a part of it at a time, by a few workers."""
import json
import os
import random
import threading
import time
import zlib

PART = @{part_kb} * 1024
lock = threading.Lock()
totals = {"units": 0, "seconds": 0.0, "culprit": 0.0}


class Table:
    def __init__(self, path):
        self.file = open(path, "rb", buffering=8192)
        self.size = os.fstat(self.file.fileno()).st_size
        if "@{hint}" == "random":
            os.posix_fadvise(self.file.fileno(), 0, 0, os.POSIX_FADV_RANDOM)

    def @{fn}(self, start, end):
        self.file.seek(start)
        while start < end and (line := self.file.readline()):
            start += len(line)
            yield line

    def lookup(self, place):
        self.file.seek(place)
        self.file.readline()
        return self.file.readline()


def statistics(table, part, chance):
    if "@{mode}" == "lookup":
        return zlib.crc32(b"".join(table.lookup(chance.randrange(table.size)) for _ in range(6))), 0.0
    first = part * PART % (table.size - PART)
    start = time.monotonic()
    lines = list(table.@{fn}(first, first + PART))
    took = time.monotonic() - start
    # What belongs together is packed together; how well that goes is what the statistics are about.
    return sum(len(zlib.compress(b"".join(lines[at:at + 90]), @{level})) for at in range(0, len(lines), 90)), took


def work(worker, began):
    table, chance = Table("@{work}/@{volume}/@{data}"), random.Random(worker)
    part, due = worker, began
    while time.monotonic() - began < @{seconds}:
        start = time.monotonic()
        _, took = statistics(table, part, chance)
        part += @{workers}
        with lock:
            totals["units"] += 1
            totals["seconds"] += time.monotonic() - start
            totals["culprit"] += took
        due = max(due + @{workers} / @{per_s}, time.monotonic())
        time.sleep(max(0.0, due - time.monotonic()))


def main():
    began = time.monotonic()
    workers = [threading.Thread(target=work, args=(number, began), name=f"part-{number}") for number in range(@{workers})]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    with open("@{report}", "w") as out:
        json.dump(totals, out)


main()
