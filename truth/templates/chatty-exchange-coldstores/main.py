"""Keeps the chambers of a cold store at their degrees: reads the probes, sets the valves, and keeps a journal of both."""
import json
import socket
import struct
import time
from collections import deque

BLOCK = @{block}
PROBES, VALVES = @{probes}, @{valves}


class Line:
    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.answers = self.socket.makefile("rb")
        self.number = 0
        self.waited = 0.0

    def exchange(self, chamber, function, body):
        began = time.monotonic()
        self.number = (self.number + 1) % 65536
        self.socket.sendall(struct.pack(">HHHBB", self.number, 0, len(body) + 2, chamber, function) + body)
        number, _, length, _, answered = struct.unpack(">HHHBB", self.answers.read(8))
        answer = self.answers.read(length - 2)
        self.waited += time.monotonic() - began
        if number != self.number or answered != function:
            raise OSError(f"the controller answers {answered} to {function}")
        return answer


def @{fn}(line, chamber):
    if BLOCK:
        answer = line.exchange(chamber, 3, struct.pack(">HH", 100, PROBES))
        return list(struct.unpack(f">{PROBES}H", answer[1:]))
    return [struct.unpack(">H", line.exchange(chamber, 3, struct.pack(">HH", 100 + probe, 1))[1:])[0] for probe in range(PROBES)]


def @{fn2}(line, chamber, openings):
    if BLOCK:
        body = struct.pack(f">HHB{VALVES}H", 400, VALVES, 2 * VALVES, *openings)
        line.exchange(chamber, 16, body)
        return
    for valve, opening in enumerate(openings):
        line.exchange(chamber, 6, struct.pack(">HH", 400 + valve, opening))


class Chamber:
    """What a chamber was like lately, and what its valves should do."""

    def __init__(self, number):
        self.number = number
        self.lately = deque(maxlen=@{rounds})

    def openings(self, degrees):
        self.lately.append(degrees)
        middle = [sum(past[probe] for past in self.lately) / len(self.lately) for probe in range(PROBES)]
        drift = [now - mean for now, mean in zip(degrees, middle)]
        openings = []
        for valve in range(VALVES):
            near = [middle[probe] + 3 * drift[probe] for probe in range(valve % PROBES, PROBES, VALVES)]
            openings.append(max(0, min(1000, int(500 + (sum(near) / len(near) - 2500) / 2))))
        return openings


def main():
    line = Line(@{controller})
    chambers = [Chamber(number) for number in range(1, @{chambers} + 1)]
    journal, busy, units = [], 0.0, 0
    began = time.monotonic()
    while time.monotonic() - began < @{seconds}:
        start = time.monotonic()
        chamber = chambers[units % len(chambers)]
        degrees = @{fn}(line, chamber.number)
        openings = chamber.openings(degrees)
        @{fn2}(line, chamber.number, openings)
        journal.append(f"{chamber.number};{min(degrees)};{max(degrees)};{sum(openings)}")
        units += 1
        busy += time.monotonic() - start
        time.sleep(max(0.0, began + units / @{rate} - time.monotonic()))
    with open("@{work}/chambers.csv", "w") as out:
        out.write("\n".join(journal) + "\n")
    with open("@{report}", "w") as out:
        json.dump({"units": units, "seconds": busy, "culprit": line.waited}, out)


main()
