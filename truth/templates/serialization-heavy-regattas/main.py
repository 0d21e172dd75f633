"""A race office: notes the crossings of the marks, ranks the fleet, and keeps the standby machine up to date."""
import json
import plistlib
import queue
import socket
import struct
import threading
import time

BOATS, LAPS, FORMAT = @{boats}, @{laps}, "@{format}"
HEAD = struct.Struct(">II")
PLACE = struct.Struct(">HHBI")


class Boat:
    def __init__(self, number):
        self.number, self.sail, self.club = number, f"GER {1200 + number}", f"Club {number % 14}"
        self.laps, self.mark, self.last, self.times = 0, 0, 0, [0] * LAPS

    def cross(self, mark, at):
        self.mark, self.last = mark, at
        if mark == 0:
            self.times[self.laps % LAPS] = at
            self.laps += 1


class Standby:
    def __init__(self, path):
        self.link = socket.socket(socket.AF_UNIX)
        self.link.connect(path)
        self.spent = 0.0

    def @{fn}(self, fleet):
        if FORMAT == "packed":
            return b"".join(PLACE.pack(b.number, b.laps, b.mark, b.last) + struct.pack(f">{LAPS}I", *b.times) for b in fleet)
        rows = [{"number": b.number, "sail": b.sail, "club": b.club, "laps": b.laps, "mark": b.mark, "last": b.last, "times": b.times} for b in fleet]
        return plistlib.dumps({"fleet": rows})

    def update(self, number, fleet):
        start = time.perf_counter()
        state = self.@{fn}(fleet)
        self.spent += time.perf_counter() - start
        self.link.sendall(HEAD.pack(number, len(state)) + state)
        self.link.recv(4, socket.MSG_WAITALL)


def intake(marks, crossings):
    with marks.makefile("rb") as lines:
        for line in lines:
            crossings.put(tuple(map(int, line.split())))
    crossings.put(None)


def main():
    marks = socket.create_connection(("127.0.0.1", @{marks}))
    marks.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    crossings = queue.Queue(16)
    threading.Thread(target=intake, args=(marks, crossings), daemon=True).start()
    fleet, standby = [Boat(number) for number in range(BOATS)], Standby("@{work}/@{standby}")
    units, busy, began = 0, 0.0, time.monotonic()
    while time.monotonic() - began < @{seconds} and (crossing := crossings.get()):
        start = time.monotonic()
        number, mark, at = crossing
        fleet[number].cross(mark, at)
        standby.update(units, fleet)
        units += 1
        busy += time.monotonic() - start
        marks.sendall(b"noted\n")
    with open("@{report}", "w") as out:
        json.dump({"units": units, "seconds": busy, "culprit": standby.spent}, out)


main()
