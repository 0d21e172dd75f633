"""A coast radio station's desk: takes the bulletins for shipping from the tape, and makes the sheet that is read out."""
import json
import math
import re
import time
from dataclasses import dataclass, field

HEAD = re.compile(r"ZCZC ([A-Z])([A-Z])(\d\d)")
GIVEN = re.compile(r"(\d\d)(\d\d)(\d\d) UTC ([A-Z]{3})")
OFF = re.compile(r"OFF ([A-Z]+)")
CLOSED = re.compile("@{pattern}", re.DOTALL)


@dataclass
class Bulletin:
    station: str
    subject: str
    number: int
    given: str = ""
    body: str = ""
    waters: dict = field(default_factory=dict)
    closed: tuple = ()


class Desk:
    def __init__(self, stations):
        self.masts = [tuple(re.findall(r"\d+", line)) for line in open(stations)]
        self.spent = 0.0
        self.endless = 0

    def read(self, lines):
        head = HEAD.match(lines[0])
        bulletin = Bulletin(*head.group(1, 2), int(head[3]))
        given = GIVEN.match(lines[1])
        bulletin.given = f"{given[1]} {given[4].title()} {given[2]}:{given[3]}"
        bulletin.body = "\n".join(lines[2:])
        for name in OFF.findall(bulletin.body):
            bulletin.waters[name] = bulletin.waters.get(name, 0) + 1
        start = time.monotonic()
        bulletin.closed = self.@{fn}(bulletin.body)
        self.spent += time.monotonic() - start
        return bulletin

    def @{fn}(self, body):
        found = CLOSED.search(body)
        if not found:
            self.endless += 1
            return ()
        return tuple(part.strip(" .\n")[:6] for part in found.groups()[-3:])

    def reach(self, bulletin):
        """Which mast sends it: the one that most of its waters are near to."""
        best = 0.0
        for latitude, minutes, longitude, _, power in self.masts:
            y = math.radians(int(latitude) + int(minutes) / 60)
            for name, times in bulletin.waters.items():
                off = math.acos(min(1.0, math.sin(y) * 0.83 + math.cos(y) * 0.55 * math.cos(len(name) / 90)))
                best = max(best, times * int(power) / (1 + off * 60))
        return best


def bulletins(path):
    lines = []
    for line in open(path):
        if line.startswith("NNNN"):
            yield lines
            lines = []
        else:
            lines.append(line.rstrip("\n"))


def main():
    desk, tape, sheet = Desk("@{work}/stations.conf"), list(bulletins("@{work}/@{tape}")), []
    units, busy = 0, 0.0
    began = time.monotonic()
    while time.monotonic() - began < @{seconds}:
        start = time.monotonic()
        one = desk.read(tape[units % len(tape)])
        sheet.append(f"{one.station}{one.subject}{one.number:02d} {one.given} {desk.reach(one):.1f} {' to '.join(one.closed) or 'no end'}")
        units += 1
        busy += time.monotonic() - start
        time.sleep(max(0.0, began + units / @{rate} - time.monotonic()))
    print(f"{units} bulletins, {desk.endless} without an end")
    print("\n".join(sheet[-5:]))
    with open("@{report}", "w") as out:
        json.dump({"units": units, "seconds": busy, "culprit": desk.spent}, out)


main()
