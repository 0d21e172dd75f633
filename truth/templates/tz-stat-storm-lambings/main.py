"""The diary of a sheep farm: which hour of the farm's day each reading of an ear tag belongs to; the readers write the farm's own time."""
import json
import os
import random
import time

ZONE = "@{zone}"


class Diary:
    def __init__(self):
        self.eaten = [0] * @{ewes}
        self.last = [0.0] * @{ewes}
        self.spent = 0.0

    def @{fn}(self, readings):
        """The moments, of the farm's time as the readers write it."""
        mktime = time.mktime
        return [mktime(when) for when, _, _ in readings]

    def from_the_first(self, readings):
        when = readings[0][0]
        first = time.mktime(when) - when[3] * 3600 - when[4] * 60 - when[5]
        return [first + when[3] * 3600 + when[4] * 60 + when[5] for when, _, _ in readings]

    def batch(self, readings):
        start = time.monotonic()
        if @{each}:
            moments = self.@{fn}(readings)
            self.spent += 0 if ZONE else time.monotonic() - start
        else:
            moments = self.from_the_first(readings)
        for moment, (_, ewe, grams) in zip(moments, readings):
            self.eaten[ewe] += grams
            self.last[ewe] = moment

    def missing(self):
        newest = max(self.last)
        return sum(newest - moment > 7200 for moment in self.last)


def received(day):
    """What the readers at the troughs have sent."""
    second, readings = 0, []
    for _ in range(@{readings}):
        second = (second + random.randint(1, @{gap})) % 86400
        when = (2024, 3, day, second // 3600, second // 60 % 60, second % 60, 0, 0, 0)
        readings.append((when, random.randrange(@{ewes}), random.randrange(400)))
    return readings


def main():
    if ZONE:
        os.environ["TZ"] = ZONE
        time.tzset()
    else:
        os.environ.pop("TZ", None)
    diary, units, busy = Diary(), 0, 0.0
    days = [received(day) for day in range(1, 8)]
    began = time.monotonic()
    while time.monotonic() - began < @{seconds}:
        start = time.monotonic()
        diary.batch(days[units % 7])
        units += 1
        busy += time.monotonic() - start
        time.sleep(max(0.0, began + units / @{rate} - time.monotonic()))
    print(diary.missing(), "ewes are missing")
    with open("@{report}", "w") as out:
        json.dump({"units": units, "seconds": busy, "culprit": diary.spent}, out)


main()
