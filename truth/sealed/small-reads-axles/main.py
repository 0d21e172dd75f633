"""Tells how busy the segments of a railway were, and where a train was counted, from the logs of the axle counters."""
import os
import socketserver
import struct

COUNTING = struct.Struct("<IHHI@{fields}I")
SEGMENTS = @{segments}


class Busy:
    def __init__(self):
        self.trains = self.axles = self.fastest = 0
        self.hours = [0] * 24

    def add(self, at, axles, speed):
        self.trains += 1
        self.axles += axles % 400
        self.fastest = max(self.fastest, speed % 200)
        self.hours[at // 3600 % 24] += axles % 400

    def __str__(self):
        return f"{self.trains} {self.axles} {self.fastest} {' '.join(map(str, self.hours))}"


def log_of(number):
    return f"@{work}/@{days}/{number % @{season}:04}.axl"


def countings(name):
    with open(name, "rb", buffering=0) as log:
        if @{ahead}:
            while piece := log.read(COUNTING.size * 2048):
                yield from COUNTING.iter_unpack(piece)
        else:
            while one := log.read(COUNTING.size):
                yield COUNTING.unpack(one)


def @{fn}(segment):
    busy, wanted = Busy(), segment % SEGMENTS
    for at, where, axles, speed, *_ in countings(log_of(segment)):
        if where % SEGMENTS == wanted:
            busy.add(at, axles, speed)
    return busy


def follow(train):
    """A train leaves its countings all over the log."""
    busy = Busy()
    log = os.open(log_of(train), os.O_RDONLY)
    try:
        for i in range(12):
            place = (train * 7919 + i * 104729) % @{countings}
            at, _, axles, speed, *_ = COUNTING.unpack(os.pread(log, COUNTING.size, place * COUNTING.size))
            busy.add(at, axles, speed)
    finally:
        os.close(log)
    return busy


class Desk(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True

    def handle(self):
        for ask in self.rfile:
            number = int(ask.split()[1])
            busy = @{fn}(number) if @{whole} else follow(number)
            self.wfile.write(f"{number} {busy}\n".encode())


class Server(socketserver.ForkingMixIn, socketserver.TCPServer):
    allow_reuse_address = True


Server(("127.0.0.1", @{port}), Desk).serve_forever()
