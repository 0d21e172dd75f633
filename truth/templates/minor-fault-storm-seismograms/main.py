"""Draws the seismograms of a shot: a canvas, the traces on it, and a seal of the lines that are to be printed."""
import json
import math
import mmap
import time
import zlib

SIZE = @{kb} * 1024
PAPER = bytes(range(64))
ROW = 4096
spent = 0.0


class Canvas:
    def __init__(self):
        self.cells = mmap.mmap(-1, SIZE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)

    def @{fn}(self, shade):
        """Each line of the paper has a mark at its left: a slice with a stride writes them at once."""
        marks = bytes([shade]) * (SIZE // ROW)
        self.cells[0:len(marks) * ROW:ROW] = marks

    def draw(self, trace, samples):
        top = trace * 7919 * ROW % (SIZE - len(samples))
        self.cells[top:top + len(samples)] = samples
        return zlib.crc32(samples)


class Desk:
    def __init__(self):
        self.canvas = None
        self.seals = []

    def sheet(self, shot):
        global spent
        start = time.monotonic()
        if self.canvas is None:
            self.canvas = Canvas()
        self.canvas.@{fn}(shot % 200)
        spent += time.monotonic() - start
        return self.canvas

    def put_away(self):
        global spent
        if not @{keep}:
            start = time.monotonic()
            self.canvas.cells.close()
            self.canvas = None
            spent += time.monotonic() - start

    def shot(self, number):
        canvas = self.sheet(number)
        seal = 0
        for trace in range(@{traces}):
            swing = 1 + (number + trace) % 7
            samples = bytes(int(100 + 90 * math.sin(i / swing)) for i in range(@{samples} // 10))
            seal ^= canvas.draw(trace, samples)
        self.seals = self.seals[-50:] + [seal]
        self.put_away()


def main():
    desk, units, busy, began = Desk(), 0, 0.0, time.monotonic()
    while time.monotonic() - began < @{seconds}:
        start = time.monotonic()
        desk.shot(units)
        busy += time.monotonic() - start
        units += 1
        time.sleep(max(0.0, began + units / @{rate} - time.monotonic()))
    with open("@{report}", "w") as out:
        json.dump({"units": units, "seconds": busy, "culprit": spent}, out)


main()
