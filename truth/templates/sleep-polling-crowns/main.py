"""Plans the crowns of a dental laboratory: the outline of a scan becomes a path for the mill, and the case gets its times."""
import collections
import json
import math
import os
import random
import socket
import sys
import threading
import time

Case = collections.namedtuple("Case", "number tooth outline")


class Mill:
    def __init__(self, line, results):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(line)
        self.answers = self.socket.makefile("rb")
        self.results = results
        self.wear = collections.Counter()

    def cut(self, case, way):
        mode = "tell" if @{tell} else "quiet"
        self.socket.sendall(f"CUT {case.number} {way:.3f} {mode}\n".encode())
        return os.path.join(self.results, f"crown-{case.number}.result")

    def @{fn}(self, case, path):
        if @{tell}:
            if self.answers.readline().split() != [b"done", b"%d" % case.number]:
                raise RuntimeError("the mill stopped")
        else:
            while not os.path.exists(path):
                time.sleep(@{pace} / 1000)
        with open(path) as result:
            _, _, _, minutes, _, bur = result.read().split()
        os.unlink(path)
        self.wear[int(bur)] += float(minutes)
        return float(minutes)


class Hygiene(threading.Thread):
    """Asks for another bur before one is blunt."""

    def __init__(self, mill):
        super().__init__(daemon=True)
        self.mill, self.asked = mill, set()

    def run(self):
        while True:
            time.sleep(@{pace} / 1000 * 4)
            self.asked.update(bur for bur, minutes in list(self.mill.wear.items()) if minutes > 180)


def scanned(number):
    chance = random.Random(number)
    turns = [i * 2 * math.pi / @{points} for i in range(@{points})]
    outline = [(math.cos(a) * (5 + chance.random()), math.sin(a) * (4 + chance.random()), 2 + chance.random()) for a in turns]
    return Case(number, f"{1 + number % 4}{1 + number % 8}", outline)


def planned(case):
    """The way of the bur in millimetres: around the crown in layers, smoothed so that it never jumps."""
    way, layer = 0.0, list(case.outline)
    for depth in range(18):
        smooth = []
        for i, (x, y, z) in enumerate(layer):
            before, after = layer[i - 1], layer[(i + 1) % len(layer)]
            smooth.append(((before[0] + 2 * x + after[0]) / 4, (before[1] + 2 * y + after[1]) / 4, z - 0.1))
        way += sum(math.dist(smooth[i - 1], smooth[i]) for i in range(len(smooth)))
        layer = smooth
    return way


def main():
    mill = Mill(*sys.argv[1:3])
    if @{hygiene}:
        Hygiene(mill).start()
    units, busy, waited = 0, 0.0, 0.0
    book = collections.defaultdict(float)
    began = time.monotonic()
    while time.monotonic() - began < @{seconds}:
        start = time.monotonic()
        case = scanned(units)
        path = mill.cut(case, planned(case))
        handed = time.monotonic()
        book[case.tooth] += mill.@{fn}(case, path)
        waited += time.monotonic() - handed
        units += 1
        busy += time.monotonic() - start
        time.sleep(max(0.0, began + units / @{rate} - time.monotonic()))
    print("; ".join(f"{tooth}: {minutes:.1f} min" for tooth, minutes in sorted(book.items())))
    with open("@{report}", "w") as out:
        json.dump({"units": units, "seconds": busy, "culprit": waited}, out)


main()
