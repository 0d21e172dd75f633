"""Composes mosaics of photographs: a sheet for each part, which goes away when the part is in the picture."""
import json
import mmap
import os
import time
import zlib

SHELF, SHEET, TILE = @{tiles} * 1_000_000, @{sheet} * 1024, 4096
PRIVATE = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS


class Composer:
    def __init__(self):
        self.shelf, self.waiting = mmap.mmap(-1, SHELF, flags=PRIVATE), 0.0
        for part in range(0, SHELF - (1 << 20), 1 << 20):
            self.shelf[part:part + (1 << 20)] = bytes([part >> 20 & 255]) * (1 << 20)

    def @{fn}(self, picture, part):
        start = time.monotonic()
        sheet = mmap.mmap(-1, SHEET, flags=PRIVATE)
        self.waiting += time.monotonic() - start
        mark = 0
        for at in range(0, SHEET - TILE, TILE):
            tile = (picture * 7919 + part * 104729 + at) * 64 % (SHELF - TILE)
            sheet[at:at + 512] = self.shelf[tile:tile + 512]
            mark = zlib.crc32(sheet[at:at + 64], mark)
        start = time.monotonic()
        sheet.close()
        self.waiting += time.monotonic() - start
        return mark


def main():
    composer, busy, units = Composer(), 0.0, 0
    with open("@{work}/composer.pid.new", "w") as file:
        file.write(str(os.getpid()))
    os.rename("@{work}/composer.pid.new", "@{work}/composer.pid")
    began = time.monotonic()
    while time.monotonic() - began < @{seconds}:
        start = time.monotonic()
        for part in range(@{parts}):
            composer.@{fn}(units, part)
        units += 1
        busy += time.monotonic() - start
        time.sleep(max(0.0, start + 1 / @{rate} - time.monotonic()))
    with open("@{report}", "w") as report:
        json.dump({"units": units, "seconds": busy, "culprit": composer.waiting}, report)


main()
