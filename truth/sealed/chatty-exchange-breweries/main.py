"""The cellar book of a brewery: writes down, tank by tank, what the controllers say, and how far the beer has fermented."""
import json
import math
import socket
import struct
import threading
import time

HEAD = struct.Struct(">HHHBBB")
FIRST = 400


class Modbus:
    def __init__(self, address):
        self.line = socket.create_connection(address, timeout=10)
        self.line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.replies = self.line.makefile("rb")
        self.turn = 0

    def registers(self, tank, first, count):
        self.turn = (self.turn + 1) % 65536
        self.line.sendall(struct.pack(">HHHBBHH", self.turn, 0, 6, tank, 3, first, count))
        turn, _, _, _, function, size = HEAD.unpack(self.replies.read(HEAD.size))
        if turn != self.turn or function != 3:
            raise OSError(f"tank {tank}: function {function}, code {size}")
        return struct.unpack(f">{size // 2}H", self.replies.read(size))


class Cellar(threading.Thread):
    def __init__(self, number, book):
        super().__init__(name=f"cellar-{number}")
        self.number, self.book = number, book
        self.modbus = Modbus(("127.0.0.1", @{gateway}))
        self.units, self.busy, self.asking = 0, 0.0, 0.0

    def @{fn}(self, tank):
        points = []
        while len(points) < @{points}:
            points += self.modbus.registers(tank, FIRST + len(points), min(@{span}, @{points} - len(points)))
        return points

    @staticmethod
    def fermented(points):
        sugar, level = 12.0, sum(points) / len(points)
        for hour in range(@{rounds} * 40):
            sugar -= sugar * math.exp(-level / 9000 - hour % 24 / 31) / 900
        return sugar

    def visit(self, tank):
        start = time.monotonic()
        points = self.@{fn}(tank)
        self.asking += time.monotonic() - start
        self.book.enter(f"{self.number};{tank};{self.fermented(points):.4f};{','.join(map(str, points))}\n")
        self.units += 1
        self.busy += time.monotonic() - start

    def run(self):
        begun = time.monotonic()
        due = begun + self.number * 0.03
        while time.monotonic() < begun + @{seconds}:
            time.sleep(max(0.0, due - time.monotonic()))
            self.visit(1 + self.units % 12)
            due = max(due + 1 / @{rate}, time.monotonic() - 1)


class Book:
    def __init__(self, path):
        self.file, self.guard = open(path, "w"), threading.Lock()

    def enter(self, line):
        with self.guard:
            self.file.write(line)


book = Book("@{work}/cellar.csv")
cellars = [Cellar(number, book) for number in range(@{cellars})]
for cellar in cellars:
    cellar.start()
for cellar in cellars:
    cellar.join()
sums = {name: sum(getattr(cellar, field) for cellar in cellars) for name, field in (("units", "units"), ("seconds", "busy"), ("culprit", "asking"))}
with open("@{report}", "w") as out:
    json.dump(sums, out)
