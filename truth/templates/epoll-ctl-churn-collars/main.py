"""Hears from the collars of a herd where each animal is, and tells the ranch which have left the pasture."""
import json
import math
import resource
import selectors
import socket
import time

CORNERS = [(47.1 + 0.15 * math.sin(2 * math.pi * i / @{corners}), 8.5 + 0.3 * math.cos(2 * math.pi * i / @{corners})) for i in range(@{corners})]


def inside(lat, lon):
    found = False
    before = CORNERS[-1]
    for corner in CORNERS:
        if (corner[0] > lat) != (before[0] > lat) and lon < (before[1] - corner[1]) * (lat - corner[0]) / (before[0] - corner[0]) + corner[1]:
            found = not found
        before = corner
    return found


class Gateway:
    def __init__(self):
        self.list = selectors.DefaultSelector()
        self.ranch = socket.create_connection(("127.0.0.1", @{ranch}))
        self.ranch.setblocking(False)
        self.door = socket.create_server(("127.0.0.1", @{door}), backlog=512)
        self.door.setblocking(False)
        self.list.register(self.door, selectors.EVENT_READ, self.take)
        self.collars = {}
        self.out = b""
        self.paused = self.awaited = False
        self.units, self.spent = 0, 0.0

    def @{fn}(self):
        start = time.monotonic()
        for line in self.collars:
            self.list.unregister(line)
        self.paused = True
        self.spent += time.monotonic() - start

    def @{fn2}(self):
        start = time.monotonic()
        for line in self.collars:
            self.list.register(line, selectors.EVENT_READ, self.hear)
        self.paused = False
        self.spent += time.monotonic() - start

    def want_ranch(self, want):
        if want and not self.awaited:
            self.list.register(self.ranch, selectors.EVENT_WRITE, self.send)
        elif self.awaited and not want:
            self.list.unregister(self.ranch)
        self.awaited = want

    def send(self, _=None):
        try:
            self.out = self.out[self.ranch.send(self.out):]
        except BlockingIOError:
            pass
        self.want_ranch(bool(self.out))
        if self.paused and not self.out:
            self.@{fn2}()

    def flow(self):
        """What is to be sent goes at once, unless the way to the ranch is full: then whoever speaks has to wait."""
        if not self.out:
            return
        if len(self.out) > @{high}:
            if not self.paused:
                self.@{fn}()
            self.want_ranch(True)
        else:
            self.send()

    def take(self, door):
        while True:
            try:
                line, _ = door.accept()
            except BlockingIOError:
                return
            line.setblocking(False)
            self.collars[line] = b""
            if not self.paused:
                self.list.register(line, selectors.EVENT_READ, self.hear)

    def hear(self, line):
        try:
            text = line.recv(4096)
        except BlockingIOError:
            return
        if not text:
            self.list.unregister(line)
            del self.collars[line]
            line.close()
            return
        *places, self.collars[line] = (self.collars[line] + text).split(b"\n")
        for place in places:
            number, lat, lon, at = place.decode().split(";")
            self.out += f"{number};{at};{'in' if inside(float(lat), float(lon)) else 'out'}\n".encode()
            self.units += 1


def main():
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, 4096), most))
    gateway = Gateway()
    busy, end = 0.0, time.monotonic() + @{seconds}
    while time.monotonic() < end:
        ready = gateway.list.select(0.2)
        start = time.monotonic()
        for key, _ in ready:
            key.data(key.fileobj)
        gateway.flow()
        busy += time.monotonic() - start
    with open("@{report}", "w") as out:
        json.dump({"units": gateway.units, "seconds": busy, "culprit": gateway.spent}, out)


main()
