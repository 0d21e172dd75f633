"""Takes the profiles of heating pumps: each sends its temperatures of a day; a day has a place of its own in the store."""
import array
import json
import logging
import os
import struct
import time
import zlib

logging.basicConfig(filename="@{work}/pumps.log", level=logging.INFO, format="%(asctime)s %(message)s")
log = logging.getLogger("pumps")
RECORD, SIZE, PLACES = @{record}, @{size}, @{places}
HEAD = struct.Struct("<IIII")


class Day:
    WAVE = array.array("H", (20 + (i * i // 50) % 25 for i in range(RECORD)))

    def __init__(self, number):
        self.pump, self.date = number % 400, number // 400
        start = number * 37 % 500
        self.values = (self.WAVE[start:] + self.WAVE[:start])[: (RECORD - HEAD.size) // 2]

    def cleaned(self):
        """A sensor that falls out gives zeros: what was before is more likely."""
        values, last = self.values, 20
        for at in range(0, len(values), 48 // @{effort}):
            if values[at] < 15:
                values[at] = last
            last = values[at]
        return values

    def packed(self):
        body = self.cleaned().tobytes()
        out = HEAD.pack(self.pump, self.date, zlib.crc32(body), len(body)) + body
        return out.ljust(SIZE, b"\0")


class Store:
    def __init__(self):
        self.days = os.open("@{work}/@{store}", os.O_RDWR)
        self.journal = os.open("@{work}/@{journal}", os.O_WRONLY | os.O_APPEND)
        self.spent, self.written = 0.0, 0

    def @{fn}(self, day):
        packed = day.packed()
        start = time.monotonic()
        if "@{into}" == "journal":
            os.write(self.journal, packed)
        else:
            # A pump's days are spread, so that none has to be moved when one more is sold.
            place = (day.pump * 7919 + day.date * 104729) % PLACES
            os.pwrite(self.days, packed, place * SIZE)
        self.spent += time.monotonic() - start
        self.written += 1


def main():
    store, units, number, busy = Store(), 0, 0, 0.0
    began = due = time.monotonic()
    while time.monotonic() - began < @{seconds}:
        due = max(due + 1 / @{rate}, time.monotonic())
        time.sleep(max(0.0, due - time.monotonic()))
        start = time.monotonic()
        for number in range(number, number + @{batch}):
            store.@{fn}(Day(number))
        number += 1
        busy += time.monotonic() - start
        units += 1
        if units % 20 == 0:
            log.info("%d days", store.written)
    with open("@{report}", "w") as out:
        json.dump({"units": units, "seconds": busy, "culprit": store.spent}, out)


main()
