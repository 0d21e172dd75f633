"""Receives the readings of the meters of a street and adds them up."""
import collections
import hashlib
import json
import socket
import time


class Gateway:
    def __init__(self, address):
        self.line = socket.create_connection(address)
        rate = @{pace} * 400000 / (@{lines} * @{width})
        self.line.sendall(b"%.4f %d\n" % (rate, @{used}))
        # What comes is to be seen at once, and not when a buffer is full.
        self.lines = self.line.makefile("rb", buffering=@{buffer})
        self.reading = 0.0

    def await_batch(self):
        return int(self.lines.readline().split()[1])

    def @{fn}(self, count):
        start = time.perf_counter()
        found = [self.lines.readline() for _ in range(count)]
        self.reading += time.perf_counter() - start
        return found


def main():
    gateway, sums = Gateway(("127.0.0.1", @{port})), collections.Counter()
    units, busy = 0, 0.0
    end = time.monotonic() + @{seconds}
    while time.monotonic() < end:
        count = gateway.await_batch()
        start = time.monotonic()
        for line in gateway.@{fn}(count):
            number, value, meter = line.split()
            sums[meter] += int(value)
            seal = hashlib.pbkdf2_hmac("sha256", line, number, @{keys})
            sums[seal[0] & 3] += 1
        units += 1
        busy += time.monotonic() - start
    with open("@{report}", "w") as out:
        json.dump({"units": units, "seconds": busy, "culprit": gateway.reading}, out)


main()
