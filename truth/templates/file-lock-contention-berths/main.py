"""The office of a marina: "moor N" enters a boat into the register of berths."""
import contextlib
import fcntl
import hashlib
import multiprocessing
import os
import socketserver
import time
from typing import NamedTuple

RECORD = 64


class Berth(NamedTuple):
    number: int
    boats: int
    dues: int
    pier: str


class Register:
    def __init__(self):
        self.file = os.open("@{work}/@{register}", os.O_RDWR)

    @contextlib.contextmanager
    def locked(self, number=None):
        length, start = (0, 0) if number is None else (RECORD, number * RECORD)
        fcntl.lockf(self.file, fcntl.LOCK_EX, length, start)
        try:
            yield
        finally:
            fcntl.lockf(self.file, fcntl.LOCK_UN, length, start)

    def __getitem__(self, number):
        numbers, _, pier = os.pread(self.file, RECORD, number * RECORD).decode().rstrip("\n").rpartition(";")
        return Berth(*map(int, numbers.split(";")), pier)

    def __setitem__(self, number, berth):
        line = f"{berth.number:05d};{berth.boats:010d};{berth.dues:010d};{berth.pier:35s}\n"
        os.pwrite(self.file, line.encode(), number * RECORD)

    def @{fn}(self, number):
        with self.locked(number):
            berth = self[number]
            self[number] = berth._replace(boats=berth.boats + 1)
        return berth.boats + 1


def dues_of(berth):
    """Dues follow the tides: high water of the month, hour by hour."""
    tide = f"{berth.number} {berth.boats}".encode()
    for _ in range(@{us}):
        tide = hashlib.sha256(tide).digest()
    return berth.boats * 1200 % 1_000_000 + tide[0] * 15


class Bookkeeper(multiprocessing.Process):
    def run(self):
        self.register = Register()
        with open("@{work}/office.turn", "r+") as turn:
            fcntl.lockf(turn, fcntl.LOCK_EX)
            while True:
                time.sleep(@{every} / 1000)
                self.@{fn2}()

    def @{fn2}(self):
        whole = "@{lock}" == "register"
        with self.register.locked() if whole else contextlib.nullcontext():
            for number in range(@{berths}):
                with contextlib.nullcontext() if whole else self.register.locked(number):
                    berth = self.register[number]
                    self.register[number] = berth._replace(dues=dues_of(berth))


class Gate(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True

    def handle(self):
        register = Register()
        for line in self.rfile:
            boat = int(line.split()[1])
            number = boat * 31 % @{berths}
            self.wfile.write(b"boat %d berth %d, the %dth\n" % (boat, number, register.@{fn}(number)))


class Office(socketserver.ForkingTCPServer):
    allow_reuse_address = True
    request_queue_size = 64


if __name__ == "__main__":
    for _ in range(1 + @{standby}):
        Bookkeeper(daemon=True).start()
    Office(("127.0.0.1", @{port}), Gate).serve_forever()
