"""Ships the readings of meters to the broker, one shipment after the other; each reading is acknowledged by it."""
import hashlib
import json
import socket
import struct
import time

QUEUE = b"@{queue}"


def short(text):
    return bytes([len(text)]) + text


def long(text):
    return struct.pack(">I", len(text)) + text


def frame(kind, channel, payload):
    return struct.pack(">BHI", kind, channel, len(payload)) + payload + b"\xce"


class Broker:
    def __init__(self, host, port):
        self.socket = socket.create_connection((host, port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.file = self.socket.makefile("rb", 65536)
        self.published = self.confirmed = 0
        self.socket.sendall(b"AMQP\x00\x00\x09\x01")
        self.expect(10, 10)
        self.method(0, 10, 11, long(b"") + short(b"PLAIN") + long(b"\0guest\0guest") + short(b"en_US"))
        offered = self.expect(10, 30)
        self.method(0, 10, 31, offered[:6] + b"\0\0")
        self.method(0, 10, 40, short(b"/") + b"\0\0")
        self.expect(10, 41)
        self.method(1, 20, 10, b"\0")
        self.expect(20, 11)

    def method(self, channel, number, method, arguments):
        self.socket.sendall(frame(1, channel, struct.pack(">HH", number, method) + arguments))

    def read(self):
        kind, _, size = struct.unpack(">BHI", self.file.read(7))
        payload = self.file.read(size + 1)
        return kind, payload[:-1]

    def expect(self, number, method):
        kind, payload = self.read()
        if kind != 1 or struct.unpack(">HH", payload[:4]) != (number, method):
            raise OSError(f"unexpected: {payload!r}")
        return payload[4:]

    def declare(self, queue, most):
        limit = short(b"x-max-length") + b"I" + struct.pack(">i", most)
        self.method(1, 50, 10, b"\0\0" + short(queue) + b"\0" + long(limit))
        self.expect(50, 11)
        self.method(1, 85, 10, b"\0")
        self.expect(85, 11)

    def publish(self, queue, bodies):
        head = frame(1, 1, struct.pack(">HHH", 60, 40, 0) + short(b"") + short(queue) + b"\0")
        out = []
        for body in bodies:
            out += [head, frame(2, 1, struct.pack(">HHQH", 60, 0, len(body), 0)), frame(3, 1, body)]
        self.socket.sendall(b"".join(out))
        self.published += len(bodies)

    def wait_for_confirms(self):
        while self.confirmed < self.published:
            tag, _ = struct.unpack(">QB", self.expect(60, 80)[:9])
            self.confirmed = max(self.confirmed, tag)


def @{fn}(shipment, row):
    reading = {"shipment": shipment, "meter": 40000 + row, "kwh": round(row * 7.31, 2), "note": "x" * @{bytes}}
    seal = json.dumps(reading).encode()
    for _ in range(@{checks}):
        seal = hashlib.sha256(seal).digest()
    reading["seal"] = seal.hex()
    return json.dumps(reading).encode()


def main():
    broker = Broker("127.0.0.1", @{port})
    broker.declare(QUEUE, 5000)
    units, busy, culprit = 0, 0.0, 0.0
    due = began = time.monotonic()
    while time.monotonic() - began < @{seconds}:
        start = time.monotonic()
        for first in range(0, @{count}, @{window}):
            bodies = [@{fn}(units, row) for row in range(first, min(first + @{window}, @{count}))]
            sent = time.monotonic()
            broker.publish(QUEUE, bodies)
            broker.wait_for_confirms()
            culprit += time.monotonic() - sent
        units += 1
        busy += time.monotonic() - start
        # The next shipment comes at its time.
        due += @{period_ms} / 1000
        time.sleep(max(0.0, due - time.monotonic()))
    with open("@{report}", "w") as out:
        json.dump({"units": units, "seconds": busy, "culprit": culprit}, out)


main()
