"""The control room of a company that looks after lifts: writes what happens to the cabins into the book of their building."""
import json
import os
import queue
import socket
import threading
import time
import zlib

BOOKS, SAFE = "@{work}/@{books}", "@{safe}"


class Book(threading.Thread):
    """The book of a building, and who keeps it."""

    def __init__(self, building):
        super().__init__(name=f"book-{building}")
        self.path = f"{BOOKS}/building-{building}@{book}"
        self.bursts = queue.Queue(maxsize=8)
        self.units, self.busy, self.safe_s = 0, 0.0, 0.0
        self.count = 0

    def @{fn}(self, out, event):
        self.count += 1
        line = b"%08d %08x %s\n" % (self.count, zlib.crc32(event), event)
        os.write(out, line)
        if SAFE == "event":
            self.keep_safe(out)

    def keep_safe(self, out):
        start = time.monotonic()
        os.fdatasync(out)
        self.safe_s += time.monotonic() - start

    def run(self):
        out = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        kept = time.monotonic()
        while (burst := self.bursts.get()) is not None:
            start = time.monotonic()
            for event in burst.splitlines():
                self.@{fn}(out, event)
            if SAFE == "burst":
                self.keep_safe(out)
            elif SAFE == "clock" and start - kept > @{period}:
                self.keep_safe(out)
                kept = start
            self.units += 1
            self.busy += time.monotonic() - start
        os.close(out)


def bursts(room):
    """The bursts of events, put together from their parts."""
    parts = {}
    while True:
        building, mark, text = room.recv(65536).split(b" ", 2)
        parts[building] = parts.get(building, b"") + text
        if mark == b"=":
            yield int(building), parts.pop(building)


def main():
    books = [Book(building) for building in range(@{buildings})]
    for book in books:
        book.start()
    room = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    room.bind("@{work}/room.sock")
    room.settimeout(5)
    end = time.monotonic() + @{seconds}
    for building, text in bursts(room):
        books[building].bursts.put(text)
        if time.monotonic() > end:
            break
    for book in books:
        book.bursts.put(None)
    for book in books:
        book.join()
    told = {"units": sum(b.units for b in books), "seconds": sum(b.busy for b in books), "culprit": sum(b.safe_s for b in books)}
    with open("@{report}", "w") as out:
        json.dump(told, out)


main()
