"""Draws views of a sea chart for a yacht's plotter: the cells in sight, with the shallowest place of each."""
import json
import os
import time

CELL, WIDE, COUNT = @{cell}, @{wide}, @{cells}


class Chart:
    def __init__(self, path):
        self.file, self.size, self.reading = os.open(path, os.O_RDONLY), os.stat(path).st_size // CELL, 0.0

    def @{fn}(self, x, y):
        """The cells around a place, row by row."""
        start = time.perf_counter()
        side = max(1, int(COUNT ** 0.5))
        places = (((y + n // side) * WIDE + x + n % side) % self.size for n in range(COUNT))
        cells = [os.pread(self.file, CELL, place * CELL) for place in places]
        self.reading += time.perf_counter() - start
        return cells


def draw(cells):
    return [min(cell[:60], default=0) for cell in cells]


def main():
    chart, busy, units = Chart("@{work}/@{mount}/@{chart}"), 0.0, 0
    began = time.perf_counter()
    while time.perf_counter() - began < @{seconds}:
        start = time.perf_counter()
        # The yacht goes north-east, and round again.
        draw(chart.@{fn}(units * 3 % 24, units * 2 % 16))
        units += 1
        busy += time.perf_counter() - start
        time.sleep(max(0.0, start + 1 / @{per_s} - time.perf_counter()))
    with open("@{report}", "w") as report:
        json.dump({"units": units, "seconds": busy, "culprit": chart.reading}, report)


main()
