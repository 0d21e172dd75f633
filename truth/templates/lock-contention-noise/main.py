"""Adds the sounds that the microphones of a city hear to its map of noise; a process for each row of microphones, all on one map."""
import ctypes
import json
import math
import multiprocessing
import random
import time

SIDE = 240
REACH = @{reach}
STEPS = 2


def inside(at):
    return min(max(at, 0), SIDE - 1)


class City:
    def __init__(self):
        self.level = multiprocessing.RawArray(ctypes.c_float, SIDE * SIDE)
        self.@{lock} = multiprocessing.Lock()
        self.houses = bytes((x * 7 + y * 13) % 11 < 4 for y in range(SIDE) for x in range(SIDE))

    def spread(self, x, y, decibel):
        """What of a sound arrives around it, cell by cell: less by the distance, and by the houses between."""
        part = []
        for dy in range(-REACH, REACH + 1):
            for dx in range(-REACH, REACH + 1):
                walls = sum(self.houses[inside(y + dy * step // STEPS) * SIDE + inside(x + dx * step // STEPS)] for step in range(1, STEPS + 1))
                part.append(10 ** ((decibel - 20 * math.log10(1 + math.hypot(dx, dy)) - 3 * walls) / 10))
        return part

    def add(self, x, y, part):
        width, level = 2 * REACH + 1, self.level
        left, right = max(0, x - REACH), min(SIDE, x + REACH + 1)
        for row in range(width):
            line = inside(y + row - REACH) * SIDE
            from_x = row * width + left - x + REACH
            level[line + left : line + right] = [a + b for a, b in zip(level[line + left : line + right], part[from_x : from_x + right - left])]

    def @{fn}(self, sound):
        """Seconds until the map was free."""
        x, y, decibel = sound
        part = self.spread(x, y, decibel) if "@{under}" == "adding" else None
        began = time.monotonic()
        with self.@{lock}:
            waited = time.monotonic() - began
            self.add(x, y, part or self.spread(x, y, decibel))
        return waited


def listen(chance):
    """The loudest moment of what a microphone recorded, and where that was."""
    loudest = max(math.sin(sample * 0.11) * chance.random() for sample in range(1500))
    return chance.randrange(SIDE), chance.randrange(SIDE), 60 + 40 * loudest


def row(city, number, begun, sums):
    chance, units, busy, waited = random.Random(number), 0, 0.0, 0.0
    while time.monotonic() - begun < @{seconds}:
        began = time.monotonic()
        waited += city.@{fn}(listen(chance))
        units += 1
        busy += time.monotonic() - began
        time.sleep(max(0.0, begun + (units + number / (@{workers} + 1)) / @{pace} - time.monotonic()))
    sums.send((units, busy, waited))


if __name__ == "__main__":
    multiprocessing.set_start_method("fork")
    city, begun, rows = City(), time.monotonic(), []
    for number in range(@{workers}):
        ours, theirs = multiprocessing.Pipe(duplex=False)
        process = multiprocessing.Process(target=row, args=(city, number, begun, theirs))
        process.start()
        rows.append((process, ours))
    units, busy, waited = map(sum, zip(*(pipe.recv() for _, pipe in rows)))
    for process, _ in rows:
        process.join()
    with open("@{report}", "w") as out:
        json.dump({"units": units, "seconds": busy, "culprit": waited}, out)
