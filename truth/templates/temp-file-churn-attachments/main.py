"""Checks the mail of a tax office: what is attached must be papers, and none that have been handed in before."""
import json
import os
import re
import socket
import tempfile
import threading
import time
import zlib

HEAD = re.compile(rb'filename="([^"]*)"')


class Piece:
    """A message or a part of one, in memory or in a file."""

    def __init__(self, name, data=None, path=None):
        self.name, self.data, self.path = name, data, path

    def content(self):
        if self.path is None:
            return self.data
        with open(self.path, "rb") as file:
            return file.read()

    def drop(self):
        if self.path is not None:
            os.unlink(self.path)
            self.path = None


class Checker(threading.Thread):
    seen = set()
    lock = threading.Lock()

    def __init__(self, end):
        super().__init__()
        self.end, self.units, self.busy, self.files = end, 0, 0.0, 0.0

    def @{fn}(self, name, data):
        began = time.perf_counter()
        handle, path = tempfile.mkstemp(prefix="@{prefix}", dir="@{work}/@{scratch}")
        with open(handle, "wb") as file:
            file.write(data)
        self.files += time.perf_counter() - began
        return Piece(name, path=path)

    def piece(self, name, data):
        return self.@{fn}(name, data) if len(data) > @{most} else Piece(name, data)

    def taken(self, piece):
        if piece.path is None:
            return piece.data
        began = time.perf_counter()
        data = piece.content()
        piece.drop()
        self.files += time.perf_counter() - began
        return data

    def unpack(self, text):
        boundary = b"--" + re.search(rb'boundary="([^"]*)"', text)[1]
        at = text.index(boundary)
        while (following := text.find(boundary, at + len(boundary))) > 0:
            body = text.index(b"\r\n\r\n", at) + 4
            name = HEAD.search(text, at, body)[1].decode()
            yield self.piece(name, text[body : following - 2])
            at = following

    def check(self, attachment):
        data = self.taken(attachment)
        sum = zlib.crc32(data)
        with self.lock:
            known = sum in self.seen
            self.seen.add(sum)
        if not data.startswith(b"%PDF-"):
            return f"{attachment.name} is no paper"
        return f"{attachment.name} was here" if known else ""

    def verdict(self, text):
        text = self.taken(self.piece("message", text))
        faults = [fault for attachment in self.unpack(text) if (fault := self.check(attachment))]
        return "; ".join(faults) or "clean"

    def run(self):
        with socket.socket(socket.AF_UNIX) as line:
            line.connect("@{work}/@{sock}")
            source = line.makefile("rb", buffering=1 << 18)
            while time.perf_counter() < self.end:
                line.sendall(b"NEXT\n")
                number, length = map(int, source.readline().split())
                text = source.read(length)
                began = time.perf_counter()
                said = self.verdict(text)
                line.sendall(f"VERDICT {number} {said[:200]}\n".encode())
                self.units += 1
                self.busy += time.perf_counter() - began


def main():
    end = time.perf_counter() + @{seconds}
    checkers = [Checker(end) for _ in range(@{workers})]
    for checker in checkers:
        checker.start()
    for checker in checkers:
        checker.join()
    total = {"units": sum(c.units for c in checkers), "seconds": sum(c.busy for c in checkers), "culprit": sum(c.files for c in checkers)}
    with open("@{report}", "w") as out:
        json.dump(total, out)


main()
