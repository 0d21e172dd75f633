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


for attempt in range(100):
    try:
        base = Base("fill")
        break
    except (OSError, RuntimeError, struct.error):
        time.sleep(0.1)
base.query("CREATE TABLE @{table} (owner int, number int, text text)")
base.query("INSERT INTO @{table} SELECT o, n, 'line ' || n || ' of ' || o FROM generate_series(1, 2000) o, generate_series(1, @{lines}) n")
base.query("CREATE INDEX ON @{table} (owner)")
base.query("ANALYZE @{table}")
open("@{work}/filled", "w").close()
time.sleep(1000)
