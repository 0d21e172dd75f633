"""Answers quotes. `anew` computes the risk for each of them; else it is computed once for all."""
import socket
import sys
from functools import lru_cache


def risk_of(days):
    risk = 0.0
    for day in range(days):
        risk = (risk * 1.000_1 + day % 7) % 1_000.0
    return risk


if sys.argv[2] != "anew":
    risk_of = lru_cache(risk_of)
server = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while True:
    connection, _ = server.accept()
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for _ in connection.makefile("rb"):
        connection.sendall(b"%.2f\n" % risk_of(1_000_000))
