"""Tells web servers which countries their visitors come from. A question is a datagram: a number and addresses."""
import bisect
import collections
import ipaddress
import json
import multiprocessing
import os
import socket
import time

TABLE = "@{work}/@{folder}/@{table}"
SIZE = 8


class Ranges(collections.abc.Sequence):
    """The table: where each range starts, in order."""

    def __init__(self, table):
        self.table = table

    def __len__(self):
        return len(self.table) // SIZE

    def __getitem__(self, place):
        return int.from_bytes(self.table[place * SIZE : place * SIZE + 4], "big")

    def country(self, address):
        at = (bisect.bisect_right(self, int(ipaddress.IPv4Address(address))) - 1) * SIZE
        return self.table[at + 4 : at + 6].decode()


class Worker:
    def __init__(self, door):
        self.door, self.kept, self.version, self.looked = door, None, None, 0.0
        self.seen = collections.Counter()
        self.units, self.busy, self.reading = 0, 0.0, 0.0

    def @{fn}(self):
        start = time.monotonic()
        with open(TABLE, "rb") as table:
            ranges = Ranges(table.read())
        self.reading += time.monotonic() - start
        return ranges

    def ranges(self):
        if not @{keep}:
            return self.@{fn}()
        if time.monotonic() - self.looked > 1:
            self.looked = time.monotonic()
            version = os.stat(TABLE).st_mtime_ns
            if version != self.version:
                self.kept, self.version = self.@{fn}(), version
        return self.kept

    def answer(self, question):
        number, *addresses = question.decode().split()
        ranges = self.ranges()
        countries = [ranges.country(address) for address in addresses]
        self.seen.update(countries)
        return " ".join([number, *countries]).encode()

    def work(self, until, sums):
        while time.monotonic() < until:
            try:
                question, asker = self.door.recvfrom(2048)
            except TimeoutError:
                continue
            start = time.monotonic()
            self.door.sendto(self.answer(question), asker)
            self.busy += time.monotonic() - start
            self.units += 1
        sums.put((self.units, self.busy, self.reading))


def main():
    door = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    door.bind(("127.0.0.1", @{port}))
    door.settimeout(0.2)
    until = time.monotonic() + @{seconds}
    context = multiprocessing.get_context("fork")
    sums = context.SimpleQueue()
    workers = [context.Process(target=Worker(door).work, args=(until, sums)) for _ in range(@{workers})]
    for worker in workers:
        worker.start()
    units, busy, reading = map(sum, zip(*(sums.get() for _ in workers)))
    for worker in workers:
        worker.join()
    with open("@{report}", "w") as report:
        json.dump({"units": units, "seconds": busy, "culprit": reading}, report)


main()
