"""Finds the ground and the shoals in a sonar's pings."""
import json
import logging
import math
import time

BEAMS, GROUND = @{beams}, @{ground}
logging.addLevelName(5, "@{level}")
logging.basicConfig(filename="@{work}/@{journal}", format="%(asctime)s %(levelname)s %(name)s: %(message)s", level=5 if @{detail} else logging.INFO)
log = logging.getLogger("sonar.beams")


class Sonar:
    def __init__(self):
        self.writing, self.pings, self.shoals = 0.0, 0, 0

    def echoes(self):
        slope = math.sin(self.pings / 40) * 0.2
        return [GROUND * (1 + slope * beam / BEAMS) - (3 if (self.pings + beam) % 17 == 0 else 0) for beam in range(BEAMS)]

    def @{fn}(self, depths):
        start = time.perf_counter()
        for beam, depth in enumerate(depths) if log.isEnabledFor(5) else ():
            log.log(5, "ping %d beam %d: angle %.2f depth %.3f m, quality %d, gain %d dB, sound %.1f m/s", self.pings, beam, beam * 120 / BEAMS - 60, depth, beam % 7, 40 + beam % 9, 1489.2)
        if self.pings % @{every} == 0:
            log.info("ping %d: ground at %.1f m", self.pings, sum(depths) / len(depths))
        self.writing += time.perf_counter() - start

    def ping(self):
        depths = self.echoes()
        mean = sum(depths) / len(depths)
        self.shoals += sum(depth < mean - 2 for depth in depths)
        self.@{fn}(depths)
        self.pings += 1


def main():
    sonar, busy, began = Sonar(), 0.0, time.perf_counter()
    while time.perf_counter() - began < @{seconds}:
        start = time.perf_counter()
        sonar.ping()
        busy += time.perf_counter() - start
        time.sleep(max(0.0, start + 1 / @{per_s} - time.perf_counter()))
    with open("@{report}", "w") as report:
        json.dump({"units": sonar.pings, "seconds": busy, "culprit": sonar.writing, "shoals": sonar.shoals}, report)


main()
