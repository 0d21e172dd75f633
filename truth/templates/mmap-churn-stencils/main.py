"""Makes the films for printed textiles: each motif is set on a canvas, and its density goes to the film."""
import json
import mmap
import time

SIZE, DRAWN = @{canvas} * 1024, @{drawn} * 4096
MOTIFS = [bytes((n * 7 + i) % 251 for i in range(1024)) * 4 for n in range(24)]


class Table:
    def __init__(self):
        self.canvas, self.served, self.mapping = None, 0, 0.0

    def @{fn}(self):
        """A canvas, of which a motif needs the first pages mostly."""
        start = time.perf_counter()
        if self.canvas is not None and self.served % @{keep} == 0:
            self.canvas.close()
            self.canvas = None
        if self.canvas is None:
            self.canvas = mmap.mmap(-1, SIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        for page in range(0, DRAWN, 4096):
            self.canvas[page] = 0
        self.served += 1
        self.mapping += time.perf_counter() - start
        return self.canvas

    def density(self, film, number):
        canvas = self.@{fn}()
        motif = MOTIFS[(film + number) % len(MOTIFS)]
        canvas[:DRAWN:4096] = motif[:DRAWN // 4096]
        return canvas[number % DRAWN] + canvas[film * 4096 % DRAWN]


def main():
    table, films, dark, busy = Table(), 0, 0, 0.0
    began = time.perf_counter()
    while time.perf_counter() - began < @{seconds}:
        start = time.perf_counter()
        dark += sum(table.density(films, number) for number in range(@{shapes}))
        films += 1
        busy += time.perf_counter() - start
        time.sleep(max(0.0, start + 1 / @{per_s} - time.perf_counter()))
    with open("@{report}", "w") as report:
        json.dump({"units": films, "seconds": busy, "culprit": table.mapping, "dark": dark}, report)


main()
