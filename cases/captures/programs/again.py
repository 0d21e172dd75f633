"""Asks the service from a port of its own choice, and waits: another program may ask from the same port meanwhile."""
import os
import signal
import socket
import struct
import sys
import time

PORT, OWN, BEFORE, BEHIND = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4])
os.kill(os.getpid(), signal.SIGSTOP)
time.sleep(BEFORE)
connection = socket.socket()
connection.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
# A reset at the end: the port is free at once.
connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
connection.bind(("127.0.0.1", OWN))
connection.connect(("127.0.0.1", PORT))
for _ in range(5):
    connection.sendall(b"order")
    connection.recv(64)
connection.close()
time.sleep(BEHIND)
