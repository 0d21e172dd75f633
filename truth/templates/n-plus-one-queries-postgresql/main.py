import hashlib
import json
import socket
import struct
import time


class Base:
    """The server's simple protocol: rows of texts."""

    def __init__(self, name):
        self.line = socket.create_connection(("127.0.0.1", @{db}))
        self.line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.answers = self.line.makefile("rb")
        words = b"user\0postgres\0database\0postgres\0application_name\0" + name.encode() + b"\0\0"
        self.line.sendall(struct.pack("!II", len(words) + 8, 196608) + words)
        self.rows()

    def query(self, text):
        text = text.encode() + b"\0"
        self.line.sendall(b"Q" + struct.pack("!I", len(text) + 4) + text)
        return self.rows()

    def rows(self):
        rows = []
        while True:
            kind, length = struct.unpack("!cI", self.answers.read(5))
            body = self.answers.read(length - 4)
            if kind == b"D":
                at, row = 2, []
                for _ in range(struct.unpack("!H", body[:2])[0]):
                    size = struct.unpack("!i", body[at:at + 4])[0]
                    row.append(body[at + 4:at + 4 + max(size, 0)].decode())
                    at += 4 + max(size, 0)
                rows.append(row)
            elif kind == b"E":
                raise RuntimeError(body)
            elif kind == b"Z":
                return rows


class Order:
    def __init__(self, base, number):
        self.base, self.number, self.known = base, number, None

    def @{fn}(self):
        if self.known is None:
            self.known = self.base.query(f"SELECT number, text FROM @{table} WHERE owner = {self.number} ORDER BY number")
        return self.known


def @{fn2}(base, first):
    orders = [Order(base, (first + i) % 2000 + 1) for i in range(@{shown})]
    if not @{single}:
        by_owner = {order.number: [] for order in orders}
        wanted = ",".join(map(str, by_owner))
        for owner, number, text in base.query(f"SELECT owner, number, text FROM @{table} WHERE owner IN ({wanted}) ORDER BY owner, number"):
            by_owner[int(owner)].append([number, text])
        for order in orders:
            order.known = by_owner[order.number]
    return orders


def main():
    base, units, busy, spent, began = Base("@{app}"), 0, 0.0, 0.0, time.monotonic()
    while time.monotonic() - began < @{seconds}:
        start = time.monotonic()
        text = json.dumps([order.@{fn}() for order in @{fn2}(base, units * @{orders})]).encode()
        spent += time.monotonic() - start
        mark = text
        for _ in range(@{rounds}):
            mark = hashlib.sha256(text + mark).digest()
        units += 1
        busy += time.monotonic() - start
        time.sleep(max(0.0, began + units / @{pace} - time.monotonic()))
    with open("@{report}", "w") as out:
        json.dump({"units": units, "seconds": busy, "culprit": spent}, out)


main()
