"""Plans hikes: how far a track climbs, and how long it takes, from a model of the heights."""
import json
import math
import mmap
import os
import struct
import time

ROWS, COLUMNS, PIECE, VIEW = @{rows}, @{columns}, @{piece}, "@{view}"
PLACE = struct.Struct("<4H")


class Model:
    def __init__(self, path):
        self.file = os.open(path, os.O_RDONLY)
        self.mapping = 0.0
        self.whole = None if VIEW == "piece" else self.mapped(0, ROWS * COLUMNS * 2)

    def mapped(self, at, size):
        return mmap.mmap(self.file, size, mmap.MAP_SHARED | mmap.MAP_POPULATE, mmap.PROT_READ, offset=at)

    def @{fn}(self, row, column):
        at = (row * COLUMNS + column) * 2
        if self.whole:
            return smooth(self.whole, at)
        first = at // PIECE * PIECE
        start = time.monotonic()
        view = self.mapped(first, PIECE)
        done = time.monotonic()
        height = smooth(view, at - first)
        read = time.monotonic()
        view.close()
        self.mapping += done - start + time.monotonic() - read
        return height

    def plan(self, number):
        row, column, climb, hours = number * 31 % ROWS, number * 97 % COLUMNS, 0.0, 0.0
        last = self.@{fn}(row, column)
        for i in range(@{points}):
            turn = math.sin((number + i) / 40)
            row = (row + 1 + turn) % ROWS
            column = (column + 3 * math.cos(turn)) % COLUMNS
            height = self.@{fn}(int(row), int(column))
            if height > last:
                climb += height - last
            hours += 0.005 * math.exp(3.5 * abs((height - last) / 30 + 0.05))
            last = height
        return climb, hours


def smooth(view, at):
    return sum(PLACE.unpack_from(view, min(at, len(view) - PLACE.size))) / 4


def main():
    model, plans, units, busy = Model("@{work}/@{heights}"), {}, 0, 0.0
    began = time.monotonic()
    while time.monotonic() - began < @{seconds}:
        start = time.monotonic()
        if VIEW == "track":
            # The sheet of the start, as the printed plan shows it.
            with model.mapped(units * 31 % ROWS * COLUMNS * 2 // PIECE * PIECE, PIECE) as sheet:
                plans["start"] = smooth(sheet, 16)
        plans[units % 500] = model.plan(units)
        units += 1
        busy += time.monotonic() - start
        time.sleep(max(0.0, began + units / @{rate} - time.monotonic()))
    with open("@{report}", "w") as out:
        json.dump({"units": units, "seconds": busy, "culprit": model.mapping}, out)


main()
