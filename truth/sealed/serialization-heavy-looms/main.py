"""The control room of a weaving mill. The looms report how many picks they have woven; the room keeps the orders, tells how much yarn they took, and says which bobbin is next."""
import json
import sys
import time

WHOLE = "@{whole}" == "yes"
ROWS, HOOKS, LOOMS = @{rows}, @{hooks}, @{looms}


def read_yarns(path):
    yarns = {}
    with open(path) as lines:
        for line in lines:
            name, _, value = line.partition("=")
            yarns[int(name.strip().split(".")[1])] = float(value)
    return yarns


def pattern(loom):
    """Which hooks are up, and which yarn goes through, row by row."""
    return [{"row": row, "yarn": (row // 3 + loom) % 4, "lift": [(row * 7 + hook * (loom + 3)) % 11 for hook in range(HOOKS)]} for row in range(ROWS)]


class Shelf:
    """The orders, by loom. What is on the shelf is text, so that the night shift's copy of it can be taken at any time."""

    def __init__(self):
        self.texts, self.patterns = {}, {}

    def @{fn}(self, loom):
        order = json.loads(self.texts[loom])
        if not WHOLE:
            order["pattern"] = self.patterns[loom]
        return order

    def @{fn2}(self, loom, order):
        if not WHOLE:
            self.patterns[loom] = order.pop("pattern")
        self.texts[loom] = json.dumps(order)


class Room:
    def __init__(self, yarns):
        self.yarns, self.shelf, self.took = yarns, Shelf(), 0.0
        for loom in range(LOOMS):
            self.shelf.@{fn2}(loom, {"order": 4000 + loom, "customer": f"house {loom % 7}", "woven": 0, "used": {}, "pattern": pattern(loom)})

    def weave(self, order, picks):
        rows = order["pattern"]
        for pick in range(order["woven"], order["woven"] + picks):
            row = rows[pick % len(rows)]
            used = order["used"]
            yarn = str(row["yarn"])
            used[yarn] = round(used.get(yarn, 0) + self.yarns[row["yarn"]] * (1 + sum(row["lift"]) / 4000), 3)
        order["woven"] += picks

    @staticmethod
    def next_bobbin(order):
        return max(order["used"], key=order["used"].get)

    def report(self, line):
        loom, picks = (int(word) for word in line.split()[1::2])
        start = time.perf_counter()
        order = self.shelf.@{fn}(loom)
        self.took += time.perf_counter() - start
        self.weave(order, picks)
        bobbin = self.next_bobbin(order)
        start = time.perf_counter()
        self.shelf.@{fn2}(loom, order)
        self.took += time.perf_counter() - start
        return bobbin


def main():
    room, units, busy, bobbins = Room(read_yarns("@{work}/yarns.conf")), 0, 0.0, {}
    began = time.perf_counter()
    while time.perf_counter() - began < @{seconds}:
        start = time.perf_counter()
        bobbin = room.report(f"loom {units * 5 % LOOMS} picks {900 + units % 900}")
        bobbins[bobbin] = bobbins.get(bobbin, 0) + 1
        units += 1
        busy += time.perf_counter() - start
        time.sleep(max(0.0, began + units / @{rate} - time.perf_counter()))
    print(f"{units} reports, bobbins: {bobbins}", file=sys.stderr)
    with open("@{report}", "w") as out:
        json.dump({"units": units, "seconds": busy, "culprit": room.took}, out)


main()
