"""The gate of a thermal bath: a season card is held to the reader, and the gate opens, or says why not."""
import json
import random
import time
import zlib

PIECE = 1 << 18


class Roll:
    """The season cards. A card may be in it more than once: its last line counts."""

    def __init__(self, path, way):
        self.path, self.way = path, way
        self.entries = {}
        self.rest = b""
        self.file = open(path, "rb", buffering=0)
        if way == "onward":
            self.@{fn2}()

    def of(self, card):
        if self.way == "onward":
            self.@{fn2}()
            return self.entries.get(card)
        return self.@{fn}(card)

    def @{fn}(self, card):
        found, wanted, rest = None, b"\n%08d;" % card, b"\n"
        with open(self.path, "rb", buffering=0) as roll:
            while piece := roll.read(PIECE):
                text = rest + piece
                end = text.rfind(b"\n") + 1
                at = text.find(wanted, 0, end)
                while at >= 0:
                    found = text[at + 1 : text.index(b"\n", at + 1)]
                    at = text.find(wanted, at + 1, end)
                rest = text[end - 1 :]
        return found

    def @{fn2}(self):
        while piece := self.file.read(PIECE):
            *lines, self.rest = (self.rest + piece).split(b"\n")
            for line in lines:
                self.entries[int(line[:8])] = line


class Gate:
    def __init__(self, tariff):
        self.prices = dict(line.split() for line in open(tariff) if line.strip())
        self.takings = {kind: 0 for kind in self.prices}
        self.refused = 0

    def passes(self, entry):
        if entry is None:
            self.refused += 1
            return "no such card"
        _, kind, left, portrait = entry.decode().split(";")
        if int(left) == 0:
            self.refused += 1
            return "used up"
        self.takings[kind] += int(self.prices[kind]) // 10
        face = zlib.crc32(portrait.encode())
        for _ in range(40):
            face = zlib.crc32(portrait.encode(), face)
        return f"open {face:08x}, {int(left) - 1} left"


def main():
    roll, gate = Roll("@{work}/@{roll}", "@{way}"), Gate("@{work}/tariff.conf")
    chance = random.Random(7)
    said = {}
    units, busy, culprit = 0, 0.0, 0.0
    began = time.monotonic()
    while time.monotonic() - began < @{seconds}:
        start = time.monotonic()
        card = chance.randrange(@{cards})
        entry = roll.of(card)
        culprit += time.monotonic() - start
        said[card] = gate.passes(entry)
        units += 1
        busy += time.monotonic() - start
        time.sleep(max(0.0, began + units / @{rate} - time.monotonic()))
    print(f"{units} passages, {gate.refused} refused, {gate.takings}, last {said.popitem()}")
    with open("@{report}", "w") as out:
        json.dump({"units": units, "seconds": busy, "culprit": culprit}, out)


main()
