"""Makes models for a 3D printer from sheets of a relief map: binary STL, two triangles for each cell of the grid. A process for each bench."""
import json
import multiprocessing
import random
import struct
import time

SIDE = @{side}
GATHER = @{gather}
POINT = struct.Struct("<3f")
FACING = [POINT.pack(0, 0, 1), POINT.pack(0.1, 0, 0.99)]
NO_COLOUR = struct.pack("<H", 0)


class Relief:
    def __init__(self, bench):
        chance = random.Random(bench)
        self.bench, self.spent = bench, 0.0
        self.heights = [[@{height} * chance.random() for _ in range(SIDE + 1)] for _ in range(SIDE + 1)]

    def @{fn}(self, file, number):
        """All triangles of the sheet."""
        write = file.write
        write(b"relief %d".ljust(80, b"\0") % number)
        write(struct.pack("<I", SIDE * SIDE * 2))
        for y in range(SIDE):
            row = [POINT.pack(x, y, height) for x, height in enumerate(self.heights[y])]
            after = [POINT.pack(x, y + 1, height) for x, height in enumerate(self.heights[y + 1])]
            for x in range(SIDE):
                for piece in (FACING[0], row[x], row[x + 1], after[x + 1], NO_COLOUR):
                    write(piece)
                for piece in (FACING[1], row[x], after[x + 1], after[x], NO_COLOUR):
                    write(piece)

    def sheet(self, number):
        with open(f"@{work}/@{outbox}/bench{self.bench}-{number % 20}.stl", "wb", buffering=GATHER) as file:
            if number % @{every}:
                file.write(b"sheet %d is left out\n" % number)
                return
            start = time.perf_counter()
            self.@{fn}(file, number)
            self.spent += time.perf_counter() - start


def work(bench):
    relief, units, busy = Relief(bench), 0, 0.0
    begin = due = time.perf_counter()
    while time.perf_counter() - begin < @{seconds}:
        start = time.perf_counter()
        relief.sheet(units + 1)
        busy += time.perf_counter() - start
        units += 1
        due = max(due + @{benches} / @{load}, time.perf_counter())
        time.sleep(max(0.0, due - time.perf_counter()))
    return units, busy, relief.spent


if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(@{benches}) as pool:
        rows = pool.map(work, range(@{benches}), chunksize=1)
    units, busy, spent = (sum(column) for column in zip(*rows))
    with open("@{report}", "w") as out:
        json.dump({"units": units, "seconds": busy, "culprit": spent}, out)
