"""Prepares postcards for print: the picture is drawn, halved, and taken apart into its colours; the printer gets the ink that it takes."""
import json
import os
import tempfile
import time

SIZE, COLOURS, FILES = @{kb} * 1024, @{colours}, @{files}
PAPER = bytes(i * 7 % 251 for i in range(65536))


class Press:
    def __init__(self):
        self.cards, self.between, self.ink = 0, 0.0, 0

    def @{fn}(self, picture):
        """Hands a picture from one step to the next."""
        if not FILES or self.cards % FILES != FILES - 1:
            return picture
        start = time.perf_counter()
        handle, path = tempfile.mkstemp(prefix="@{prefix}-", dir="@{work}/@{steps}")
        with open(handle, "wb") as file:
            file.write(picture)
        with open(path, "rb") as file:
            picture = file.read()
        os.unlink(path)
        self.between += time.perf_counter() - start
        return picture

    def print(self):
        turn = self.cards % 250
        picture = self.@{fn}((PAPER[turn:] + PAPER[:turn]) * (SIZE // len(PAPER) + 1))
        half = memoryview(self.@{fn}(picture[len(picture) // 2:]))
        inks = [self.@{fn}(half[colour:len(half) // COLOURS + colour]) for colour in range(COLOURS)]
        self.ink += sum(ink[1000] + ink[-1] for ink in inks)
        self.cards += 1


def main():
    press, busy, began = Press(), 0.0, time.perf_counter()
    while time.perf_counter() - began < @{seconds}:
        start = time.perf_counter()
        press.print()
        busy += time.perf_counter() - start
        time.sleep(max(0.0, start + 1 / @{per_s} - time.perf_counter()))
    with open("@{report}", "w") as report:
        json.dump({"units": press.cards, "seconds": busy, "culprit": press.between, "ink": press.ink}, report)


main()
