import hashlib
import json
import queue
import socket
import struct
import threading
import time

opening, kept = [0.0], threading.local()


class Base:
    """As much of the server's protocol as a look-up takes."""

    def __init__(self):
        began = time.monotonic()
        self.line = socket.create_connection(("127.0.0.1", @{db}))
        self.line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.answers = self.line.makefile("rb")
        self.take()
        self.send(struct.pack("<IIB", 0x8200, 1 << 24, 45) + bytes(23) + b"root\0\0", 1)
        if self.take()[0]:
            raise OSError("not let in")
        opening[0] += time.monotonic() - began

    def take(self):
        return self.answers.read(int.from_bytes(self.answers.read(4)[:3], "little"))

    def send(self, body, number=0):
        self.line.sendall(struct.pack("<I", len(body) | number << 24) + body)

    def one(self, text):
        self.send(b"\x03" + text.encode())
        for _ in range(self.take()[0]):
            self.take()
        self.take()
        row = self.take()
        self.take()
        return row[1:1 + row[0]]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if not @{keep}:
            self.send(b"\x01")
            self.answers.close()
            self.line.close()


def base():
    if @{keep}:
        if not hasattr(kept, "base"):
            kept.base = Base()
        return kept.base
    return Base()


def @{fn}(meter):
    with base() as found:
        return found.one(f"SELECT ROUND({meter} * 1.19, 2)")


def worker(jobs, done):
    while True:
        number = jobs.get()
        for i in range(@{looks}):
            mark = @{fn}(number + i)
            for _ in range(@{rounds}):
                mark = hashlib.sha1(mark).digest()
        done.put(mark)


def main():
    jobs, done = queue.Queue(), queue.Queue()
    threading.Thread(target=worker, args=(jobs, done), name="prices", daemon=True).start()
    units, busy, began = 0, 0.0, time.monotonic()
    while time.monotonic() - began < @{seconds}:
        start = time.monotonic()
        jobs.put(units * @{calls})
        done.get()
        units += 1
        busy += time.monotonic() - start
        time.sleep(max(0.0, began + units / @{pace} - time.monotonic()))
    with open("@{report}", "w") as out:
        json.dump({"units": units, "seconds": busy, "culprit": opening[0]}, out)


main()
