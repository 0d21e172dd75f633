"""Tells the stock, or takes the question and says nothing: stock.py PORT silent|answering."""
import socket
import sys

listener = socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=64)
kept = []
while True:
    client, _ = listener.accept()
    if sys.argv[2] == "answering" and client.recv(512):
        client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n42")
    kept.append(client)
