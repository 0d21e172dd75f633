"""Asks a service for reports, one after the other: what takes long is not here."""
import socket
import sys
import time

connection = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
for number in range(int(sys.argv[2])):
    connection.sendall(b"report %d\n" % number)
    answer = b""
    while not answer.endswith(b"\n"):
        answer += connection.recv(4096)
    time.sleep(0.005)
