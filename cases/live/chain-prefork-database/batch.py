"""Counts the seats now and then. `inside` takes its time within the transaction that holds the row; else behind it."""
import socket
import struct
import sys
import time


class Session:
    def __init__(self, port):
        self.line = socket.create_connection(("127.0.0.1", port))
        self.answers = self.line.makefile("rb")
        words = b"user\0shop\0database\0postgres\0application_name\0batch\0\0"
        self.line.sendall(struct.pack("!II", len(words) + 8, 196608) + words)
        self.read_answer()

    def query(self, text):
        text = text.encode() + b"\0"
        self.line.sendall(b"Q" + struct.pack("!I", len(text) + 4) + text)
        self.read_answer()

    def read_answer(self):
        kind = b""
        while kind != b"Z":
            kind, length = struct.unpack("!cI", self.answers.read(5))
            body = self.answers.read(length - 4)
            if kind == b"E":
                raise RuntimeError(body)


def print_report():
    time.sleep(0.3)


session = Session(int(sys.argv[1]))
while True:
    session.query("BEGIN")
    session.query("UPDATE seats SET counted = taken WHERE id = 1")
    if sys.argv[2] == "inside":
        print_report()
    session.query("COMMIT")
    if sys.argv[2] != "inside":
        print_report()
    time.sleep(0.02)
