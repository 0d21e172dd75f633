"""Imports the changes of a railway's timetable: batch by batch, each as a whole or not at all."""
import gc
import json
import os
import time

PAGE_MB = os.sysconf("SC_PAGE_SIZE") / 1048576


class Call:
    """A train at a station."""
    __slots__ = ("trip", "station", "arrives", "leaves", "before")

    def __init__(self, trip, station, arrives, leaves, before):
        self.trip, self.station, self.arrives, self.leaves, self.before = trip, station, arrives, leaves, before


class Batch:
    def __init__(self, number):
        self.number = number
        self.calls = []


class Timetable:
    def __init__(self):
        self.arrivals = {}
        self.history = []

    def read(self, number):
        batch = Batch(number)
        for trip in range(@{trips}):
            at = 300 + (number * 7 + trip * 11) % 900
            for i in range(@{calls}):
                station = (trip * 5 + i) % 400
                at += 2 + (number + i * trip) % 6
                batch.calls.append(Call((number % 8 * 100 + trip), station, at + 0.25, at + 1.0, None))
        return batch

    def check(self, batch):
        late = 0.0
        for _ in range(@{effort}):
            for call in batch.calls:
                late = late * 0.9 + max(0.0, call.arrives - call.leaves + 1) * (call.station % 7)
        return late

    def @{fn}(self, batch):
        """What was there before is kept, so that the batch can be taken back as long as it is not committed."""
        for call in batch.calls:
            place = call.trip * 64 + call.station % 64
            call.before = self.arrivals.get(place)
            self.arrivals[place] = call.arrives
        self.history.append(batch)

    def commit(self):
        if len(self.history) > @{undo}:
            del self.history[:len(self.history) - @{undo}]


class House:
    """The machine is shared with others: above a limit, what is not needed is given back between two batches."""

    def __init__(self):
        self.spent = 0.0

    def used(self):
        with open("/proc/self/statm") as state:
            return int(state.read().split()[1]) * PAGE_MB

    def @{fn2}(self):
        if self.used() > @{memory_mb} + 16:
            start = time.monotonic()
            gc.collect()
            self.spent += time.monotonic() - start


def main():
    # No collection in the middle of a batch.
    gc.disable()
    timetable, house = Timetable(), House()
    number = 0
    for number in range(@{loaded}):
        timetable.@{fn}(timetable.read(number))
        timetable.commit()
    units, busy, late = 0, 0.0, 0.0
    due = time.monotonic()
    end = due + @{seconds}
    while (start := time.monotonic()) < end:
        number += 1
        batch = timetable.read(number)
        late += timetable.check(batch)
        timetable.@{fn}(batch)
        timetable.commit()
        house.@{fn2}()
        now = time.monotonic()
        busy += now - start
        units += 1
        due = max(due + 1 / @{rate}, now)
        time.sleep(due - now)
    with open("@{report}", "w") as out:
        json.dump({"units": units, "seconds": busy, "culprit": house.spent}, out)


main()
