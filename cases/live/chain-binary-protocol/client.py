"""Asks for pages by a protocol of its own: a length, a kind, a body. What takes long is not here."""
import socket
import struct
import sys
import time


def ask(connection, number):
    body = struct.pack("!BI", 1, number)
    connection.sendall(struct.pack("!I", len(body)) + body)
    (length,) = struct.unpack("!I", connection.recv(4, socket.MSG_WAITALL))
    return connection.recv(length, socket.MSG_WAITALL)


connection = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
number = 0
while True:
    ask(connection, number)
    number += 1
    time.sleep(0.05)
