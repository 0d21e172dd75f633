import json
import random
import socket
import struct
import threading
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


took, lock = [], threading.Lock()


def connect(name):
    for attempt in range(100):
        try:
            return Base(name)
        except (OSError, RuntimeError, struct.error):
            time.sleep(0.1)
    raise SystemExit("no server")


def close(base):
    while time.monotonic() < END:
        base.query("BEGIN")
        base.query("UPDATE @{table} SET value = value + 1")
        time.sleep(@{hold} / 1000 * random.uniform(0.8, 1.2))
        base.query("COMMIT")
        time.sleep(@{free} / 1000)


def desk(number):
    base, chance = connect(f"desk{number}"), random.Random(number)
    while time.monotonic() < END:
        began = time.monotonic()
        base.query(f"UPDATE @{table} SET value = value + 1 WHERE id = {(number + chance.randint(0, 3) * @{desks}) % @{rows} + 1}")
        with lock:
            took.append(time.monotonic() - began)
        time.sleep(@{think} / 1000 * chance.uniform(0.5, 1.5))


first = connect("@{holder}")
first.query("CREATE TABLE @{table} (id int primary key, value int)")
first.query("INSERT INTO @{table} SELECT n, 0 FROM generate_series(1, @{rows}) n")
END = time.monotonic() + @{seconds}
threads = [threading.Thread(target=close, args=(first,), daemon=True)] + [threading.Thread(target=desk, args=(n,), daemon=True) for n in range(@{desks})]
for thread in threads:
    thread.start()
for thread in threads[1:]:
    thread.join(@{seconds} + 10)
with open("@{report}", "w") as out:
    json.dump({"units": len(took), "seconds": sum(took)}, out)
