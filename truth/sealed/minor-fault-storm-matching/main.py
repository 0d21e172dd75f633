"""Drops from each batch of events those that were there before: by their numbers, in a table with a byte for each number that there can be."""
import json
import random
import resource
import time
import zlib

SIZE = @{mb} << 20


class Batches:
    def __init__(self):
        self.seen = bytearray(SIZE) if @{kept} else None
        self.batch = 0

    def @{fn}(self, numbers):
        if @{kept}:
            seen = self.seen
            self.batch = self.batch % 255 + 1
        else:
            seen = bytearray(SIZE)
            self.batch = 1
        mark, again = self.batch, 0
        for number in numbers:
            if seen[number] == mark:
                again += 1
            seen[number] = mark
        return again


def used():
    """Of the processor time: the kernel's, and all."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_stime, usage.ru_stime + usage.ru_utime


def main():
    batches, chance = Batches(), random.Random(4)
    arrivals = [[chance.randrange(SIZE) for _ in range(@{numbers} // @{small})] for _ in range(8)]
    if @{kept}:
        for numbers in arrivals:
            batches.@{fn}(numbers)
    body = b"event of a sensor;" * 100
    units, busy, system, every, sums = 0, 0.0, 0.0, 1e-9, 0
    began = time.monotonic()
    rate = @{rate} * @{workers} / 3
    while time.monotonic() - began < @{seconds}:
        numbers = arrivals[units % len(arrivals)]
        start, before = time.monotonic(), used()
        batches.@{fn}(numbers)
        for _ in range(@{rounds} * 20):
            sums ^= zlib.crc32(body)
        busy += time.monotonic() - start
        after = used()
        system += after[0] - before[0]
        every += after[1] - before[1]
        units += 1
        time.sleep(max(0.0, began + units / rate - time.monotonic()))
    # Faults take what the kernel takes: nothing else is asked of it.
    with open("@{report}", "w") as out:
        json.dump({"units": units, "seconds": busy, "culprit": busy * system / every}, out)


main()
