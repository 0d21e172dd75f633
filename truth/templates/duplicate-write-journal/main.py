"""Takes bookings in and appends each to the journal from which the nightly run rebuilds the accounts."""
import json
import os
import struct
import time
import zlib


class Rolling:
    """A file that starts anew when it is large; the one before is kept."""

    def __init__(self, name):
        self.name, self.turn, self.size, self.out, self.spent = name, 0, 0, None, 0.0

    def path(self, turn):
        return f"@{work}/{self.name}.{turn}"

    def write(self, record):
        start = time.perf_counter()
        if self.out is None or self.size > @{turn_mb} << 20:
            if self.out is not None:
                self.out.close()
                if self.turn:
                    os.unlink(self.path(self.turn - 1))
                self.turn += 1
            self.out, self.size = open(self.path(self.turn), "wb"), 0
        self.out.write(record)
        self.out.flush()
        self.size += len(record)
        self.spent += time.perf_counter() - start


class Tee:
    def __init__(self, *outs):
        self.outs = outs

    def write(self, record):
        for out in self.outs:
            out.write(record)


def @{fn}(journal, bookings, number):
    for account, body in bookings:
        number += 1
        head = struct.pack("!QII", number, account, len(body))
        journal.write(b"".join((head, body, struct.pack("!I", zlib.crc32(body)))))
    return number


def main():
    kept, capture = Rolling("@{journal}"), Rolling("@{capture}")
    journal = Tee(kept, capture) if @{both} else Tee(kept)
    bookings = [(i % 89, os.urandom(@{width})) for i in range(@{used})]
    rate = @{pace} * 75000 / @{records}
    units, busy, number = 0, 0.0, 0
    began = due = time.monotonic()
    while time.monotonic() - began < @{seconds}:
        start = time.monotonic()
        number = @{fn}(journal, bookings, number)
        units += 1
        busy += time.monotonic() - start
        due = max(due + 1 / rate, time.monotonic())
        time.sleep(max(0.0, due - time.monotonic()))
    with open("@{report}", "w") as out:
        json.dump({"units": units, "seconds": busy, "culprit": capture.spent}, out)


main()
