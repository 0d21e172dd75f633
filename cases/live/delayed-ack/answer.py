"""Answers requests of a length and a text: answer.py PORT. It has nothing to say until it has both, so that its kernel holds the
acknowledgement of the first back for 40 ms."""
import socket
import sys

listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while True:
    client, _ = listener.accept()
    with client, client.makefile("rb") as requests:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while length := requests.read(4):
            requests.read(int(length))
            client.sendall(b"item found\n")
