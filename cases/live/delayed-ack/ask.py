"""Asks 60 times over one connection: ask.py PORT [nodelay]. Each request is written in two parts, its length and its text."""
import socket
import sys

with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as server:
    if "nodelay" in sys.argv[2:]:
        server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for number in range(60):
        text = b"GET item %d" % number
        server.sendall(b"%04d" % len(text))
        server.sendall(text)
        server.recv(64)
