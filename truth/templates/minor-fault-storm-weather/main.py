"""Paints weather maps: some isobars over a large, clear canvas, to be laid over a map."""
import json
import time

WIDTH, HEIGHT, LINES = @{width}, @{height}, @{lines}
CLEAR = bytes(24)


def places(number):
    """Where the lines of a map are: the offset of each line's piece in each row."""
    for row in range(HEIGHT):
        start = row * WIDTH * 4
        for line in range(LINES):
            yield start + 4 * ((number * 37 + line * (WIDTH // LINES) + row * (line + 1) // 3) % (WIDTH - 8))


class Painter:
    def __init__(self):
        self.canvas, self.maps = None, 0

    def @{fn}(self, number, places):
        if self.canvas is None:
            self.canvas = bytearray(WIDTH * HEIGHT * 4)
        canvas, ink = self.canvas, (0xFF2040C0 + number % 32).to_bytes(4, "little") * 6
        for place in places:
            canvas[place:place + 24] = ink
        weight = canvas[places[number % len(places)]]
        self.maps += 1
        if self.maps % @{keep} == 0:
            self.canvas = None
        else:
            for place in places:
                canvas[place:place + 24] = CLEAR
        return weight


def main():
    painter, days = Painter(), [list(places(day)) for day in range(4)]
    begin, busy, units, weight = time.perf_counter(), 0.0, 0, 0
    while time.perf_counter() - begin < @{seconds}:
        start = time.perf_counter()
        weight += painter.@{fn}(units, days[units % len(days)])
        units += 1
        busy += time.perf_counter() - start
        time.sleep(max(0.0, begin + units / @{rate} - time.perf_counter()))
    with open("@{report}", "w") as report:
        json.dump({"units": units, "seconds": busy}, report)


main()
