"""Keeps orders in a file: each request is written and synced several times. Serves a unix socket, a thread a connection."""
import os
import socket
import sys
import threading

PATH, FILE = sys.argv[1], sys.argv[2]


def serve(connection):
    orders = os.open(FILE, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
    while connection.recv(64):
        for _ in range(12):
            os.write(orders, b"order" * 40)
            os.fsync(orders)
        connection.sendall(b"stored")
    os.close(orders)


if os.path.exists(PATH):
    os.unlink(PATH)
listener = socket.socket(socket.AF_UNIX)
listener.bind(PATH)
listener.listen()
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
