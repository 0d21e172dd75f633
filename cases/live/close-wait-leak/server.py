"""Answers each line: server.py PORT [closing]. Without `closing` it keeps what its clients leave behind."""
import socket
import sys
import threading

kept = []


def serve(client):
    while client.recv(512):
        client.sendall(b"ok\n")
    if sys.argv[2:] == ["closing"]:
        client.close()
    else:
        kept.append(client)


listener = socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=64)
while True:
    threading.Thread(target=serve, args=listener.accept()[:1], daemon=True).start()
