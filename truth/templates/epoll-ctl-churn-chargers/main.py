"""Collects what charging stations report: who has charged how much, and what it costs."""
import json
import select
import socket
import time


class Station:
    def __init__(self, number):
        self.line = socket.create_connection(("127.0.0.1", @{feed}))
        self.line.setblocking(False)
        self.number, self.rest = number, b""

    def hear(self):
        self.rest += self.line.recv(4096)
        *lines, self.rest = self.rest.split(b"\n")
        return lines


class Loop:
    """Who is to be heard in a turn: stations that are out of order are left out."""

    def __init__(self, stations):
        self.by_fd = {station.line.fileno(): station for station in stations}
        self.out_of_order, self.spent = set(), 0.0
        self.poll = None

    def @{fn}(self):
        if self.poll is not None:
            return
        start = time.monotonic()
        self.poll = select.epoll()
        for fd in self.by_fd:
            if fd not in self.out_of_order:
                self.poll.register(fd, select.EPOLLIN)
        self.spent += time.monotonic() - start

    def @{fn2}(self):
        if "@{arm}" == "once":
            return
        start = time.monotonic()
        for fd in self.by_fd:
            if fd not in self.out_of_order:
                self.poll.unregister(fd)
        self.poll.close()
        self.poll = None
        self.spent += time.monotonic() - start

    def wait(self):
        return [self.by_fd[fd] for fd, _ in self.poll.poll(0.2)]


class Bills:
    def __init__(self):
        self.cents, self.readings = {}, 0

    def take(self, station, line):
        customer, charged, at = line.split(b";")
        hour = int(at) // 3600 % 24
        price = 0.0
        for step in range(@{effort} * 20):
            price += float(charged) * (39 if 7 <= (hour + step) % 24 < 21 else 31)
        self.cents[customer] = self.cents.get(customer, 0) + price / (@{effort} * 20)
        self.readings += 1


def main():
    stations, bills = [Station(number) for number in range(@{stations})], Bills()
    loop, busy, end = Loop(stations), 0.0, time.monotonic() + @{seconds}
    while time.monotonic() < end:
        start = time.monotonic()
        loop.@{fn}()
        busy += time.monotonic() - start
        ready = loop.wait()
        start = time.monotonic()
        loop.@{fn2}()
        for station in ready:
            for line in station.hear():
                bills.take(station, line)
        busy += time.monotonic() - start
    with open("@{report}", "w") as out:
        json.dump({"units": bills.readings, "seconds": busy, "culprit": loop.spent}, out)


main()
