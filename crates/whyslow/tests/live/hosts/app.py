"""A shop's orders: each looks its article up in the store."""
import socket
import threading


def serve(client):
    store = socket.create_connection(("10.78.0.3", 9000))
    answers = store.makefile("rb")
    for order in client.makefile("rb"):
        store.sendall(b"look up " + order)
        answers.readline()
        client.sendall(b"done\n")


listener = socket.create_server(("0.0.0.0", 8000))
while True:
    client, _ = listener.accept()
    threading.Thread(target=serve, args=(client,), daemon=True).start()
