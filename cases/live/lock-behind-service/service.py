"""Answers reports out of a ledger, which it reads under a lock of the file."""
import fcntl
import socket
import sys

server = socket.create_server(("127.0.0.1", int(sys.argv[1])))
ledger = open(sys.argv[2], "rb")


def read_report():
    fcntl.flock(ledger, fcntl.LOCK_EX)
    ledger.seek(0)
    entries = ledger.read().count(b"\n")
    fcntl.flock(ledger, fcntl.LOCK_UN)
    return entries


while True:
    connection, _ = server.accept()
    for _ in connection.makefile("rb"):
        connection.sendall(b"%d entries\n" % read_report())
