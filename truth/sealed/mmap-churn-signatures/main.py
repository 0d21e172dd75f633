"""Prints cheques: the signature of each signatory is cut out of the archive and put below the amount."""
import contextlib
import json
import mmap
import struct
import time
import zlib

WINDOW = @{window_kb} * 1024
HEAD = struct.Struct("<HHI")


class Signatures:
    def __init__(self, path):
        self.file = open(path, "rb")
        self.all = mmap.mmap(self.file.fileno(), 0, access=mmap.ACCESS_READ) if @{held} else None
        self.spent = 0.0

    @contextlib.contextmanager
    def @{fn}(self, number):
        start = time.monotonic()
        view = mmap.mmap(self.file.fileno(), WINDOW, access=mmap.ACCESS_READ, offset=number % @{windows} * WINDOW)
        self.spent += time.monotonic() - start
        try:
            yield view
        finally:
            start = time.monotonic()
            view.close()
            self.spent += time.monotonic() - start

    def cut(self, signatory):
        at = signatory * 131 % (4096 - @{length})
        if self.all:
            at += signatory * 7 % @{windows} * WINDOW
            return self.all[at:at + @{length}]
        with self.@{fn}(signatory * 7) as view:
            return view[at:at + @{length}]

    def cut_all(self, signatories):
        if @{each} > 1:
            return [self.cut(signatory) for signatory in signatories]
        with self.@{fn}(signatories[0]) as view:
            return [view[(at := one * 131 % (4096 - @{length})):at + @{length}] for one in signatories]


def cheques(signatures, batch):
    total = 0
    for number, ink in enumerate(signatures.cut_all(range(batch, batch + @{records}))):
        width, height, _ = HEAD.unpack_from(ink)
        total ^= zlib.crc32(ink, width * height + number)
    return total


def main():
    signatures = Signatures("@{work}/@{archive}")
    units, busy, began = 0, 0.0, time.monotonic()
    while time.monotonic() - began < @{seconds}:
        start = time.monotonic()
        cheques(signatures, units * 13)
        busy += time.monotonic() - start
        units += 1
        time.sleep(max(0.0, began + units / @{rate} - time.monotonic()))
    with open("@{report}", "w") as out:
        json.dump({"units": units, "seconds": busy, "culprit": signatures.spent}, out)


main()
