"""COUNT clients, one after another, each asks once and leaves: clients.py PORT COUNT."""
import socket
import sys

for _ in range(int(sys.argv[2])):
    with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as server:
        server.sendall(b"hello\n")
        server.recv(512)
