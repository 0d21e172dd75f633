"""Asks the service again and again: one connection for all orders, or one for each. Stops before it begins, to be traced."""
import os
import signal
import socket
import sys

PORT, ORDERS, EACH = int(sys.argv[1]), int(sys.argv[2]), len(sys.argv) > 3
connection = None if EACH else socket.create_connection(("127.0.0.1", PORT))
os.kill(os.getpid(), signal.SIGSTOP)
for _ in range(ORDERS):
    own = socket.create_connection(("127.0.0.1", PORT)) if EACH else connection
    own.sendall(b"order")
    own.recv(64)
    if EACH:
        own.close()
