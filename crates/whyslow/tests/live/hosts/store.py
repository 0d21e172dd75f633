"""A store of articles that takes its time."""
import socket
import threading
import time

lock = threading.Lock()


def look_up(article):
    with lock:
        time.sleep(0.03)
        return b"found %d\n" % len(article)


def serve(client):
    for article in client.makefile("rb"):
        client.sendall(look_up(article))


listener = socket.create_server(("0.0.0.0", 9000))
while True:
    client, _ = listener.accept()
    threading.Thread(target=serve, args=(client,), daemon=True).start()
