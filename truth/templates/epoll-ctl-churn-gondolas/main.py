"""The control of a ropeway: hears what the gondolas tell, and answers how fast they may go."""
import collections
import json
import select
import socket
import time


class Control:
    def __init__(self):
        self.door = socket.create_server(("127.0.0.1", @{port}), backlog=512)
        self.door.setblocking(False)
        self.list = select.epoll()
        self.list.register(self.door, select.EPOLLIN)
        self.lines, self.gondola_of = {}, {}
        self.groups = collections.defaultdict(set)
        self.wind = [0.0] * 64
        self.units, self.listing = 0, 0.0

    def @{fn}(self, gondola):
        """No other of its lines may come between."""
        start = time.monotonic()
        for fd in self.groups[gondola]:
            self.list.unregister(fd)
        self.listing += time.monotonic() - start

    def @{fn2}(self, gondola):
        start = time.monotonic()
        for fd in self.groups[gondola]:
            self.list.register(fd, select.EPOLLIN)
        self.listing += time.monotonic() - start

    def take(self):
        try:
            while True:
                line, _ = self.door.accept()
                line.setblocking(False)
                line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self.lines[line.fileno()] = line
                self.list.register(line, select.EPOLLIN)
        except BlockingIOError:
            pass

    def drop(self, fd):
        self.list.unregister(fd)
        self.groups[self.gondola_of.pop(fd, None)].discard(fd)
        self.lines.pop(fd).close()

    def speed(self, gondola, wind, swing):
        speed = 6.0
        for turn in range(@{rounds}):
            place = (gondola + turn) % 64
            self.wind[place] += (wind - self.wind[place]) * 0.05
            speed += (7 - self.wind[place] / 4 - swing / 3 - speed) * 0.1
        return min(7.0, max(0.0, speed))

    def hear(self, fd):
        try:
            text = self.lines[fd].recv(32)
        except BlockingIOError:
            return
        except OSError:
            text = b""
        if len(text) < 32:
            return self.drop(fd)
        gondola, _, wind, swing, _ = text.split(b";")
        gondola = int(gondola)
        if fd not in self.gondola_of:
            self.gondola_of[fd] = gondola
            self.groups[gondola].add(fd)
        if @{apart}:
            self.@{fn}(gondola)
        self.lines[fd].send(b"%7.3f\n" % self.speed(gondola, float(wind), float(swing)))
        if @{apart}:
            self.@{fn2}(gondola)
        self.units += 1


def main():
    control = Control()
    busy, end = 0.0, time.monotonic() + @{seconds}
    while time.monotonic() < end:
        ready = control.list.poll(0.2)
        start = time.monotonic()
        for fd, _ in ready:
            if fd == control.door.fileno():
                control.take()
            elif fd in control.lines:
                control.hear(fd)
        busy += time.monotonic() - start
    with open("@{report}", "w") as out:
        json.dump({"units": control.units, "seconds": busy, "culprit": control.listing}, out)


main()
