"""Keeps the map of what players have explored: a step uncovers what is in sight, and the map survives the end of the program."""
import json
import os
import random
import time

WIDTH, HEIGHT, SIGHT = @{width}, @{height}, @{sight}


class Fog:
    def __init__(self, path):
        self.cells = bytearray(WIDTH * HEIGHT)
        self.file = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        os.write(self.file, self.cells)
        self.saving = 0.0

    def uncover(self, x, y):
        for row in range(max(0, y - SIGHT), min(HEIGHT, y + SIGHT + 1)):
            first, end = row * WIDTH + max(0, x - SIGHT), row * WIDTH + min(WIDTH, x + SIGHT + 1)
            self.cells[first:end] = b"\1" * (end - first)

    def @{fn}(self, step, y):
        start = time.perf_counter()
        first, end = max(0, y - SIGHT), min(HEIGHT, y + SIGHT + 1)
        if "@{rows}" == "all" or @{whole} and step % (@{whole} + 1) == @{whole}:
            first, end = 0, HEIGHT
        os.pwrite(self.file, memoryview(self.cells)[first * WIDTH:end * WIDTH], first * WIDTH)
        self.saving += time.perf_counter() - start


def main():
    fog = Fog("@{work}/@{map}")
    begin, busy, steps = time.perf_counter(), 0.0, 0
    x, y = WIDTH // 2, HEIGHT // 2
    while time.perf_counter() - begin < @{seconds}:
        start = time.perf_counter()
        x, y = (x + random.randint(-3, 3)) % WIDTH, (y + random.randint(-3, 3)) % HEIGHT
        fog.uncover(x, y)
        fog.@{fn}(steps, y)
        steps += 1
        busy += time.perf_counter() - start
        time.sleep(max(0.0, begin + steps / @{rate} - time.perf_counter()))
    with open("@{report}", "w") as report:
        json.dump({"units": steps, "seconds": busy, "culprit": fog.saving}, report)


main()
