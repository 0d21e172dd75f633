import itertools
import socket
import threading
import time

LOST = @{lost}
TCP_REPAIR = 19
number = itertools.count(1)


def serve(client):
    lines = client.makefile("rb")
    for line in lines:
        if LOST and next(number) % LOST == 0:
            # As a host that loses its power: nothing is said.
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
            time.sleep(0.25)
            client.setsockopt(socket.IPPROTO_TCP, TCP_REPAIR, 1)
            break
        client.sendall(b"done " + line)
    lines.close()
    client.close()


with socket.create_server(("127.0.0.1", @{port}), backlog=100) as door:
    while True:
        client, _ = door.accept()
        threading.Thread(target=serve, args=(client,), daemon=True).start()
