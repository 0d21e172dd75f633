import socket
import threading
import time

ALLOWED = @{allowed} * 1024


def take(sender):
    began, taken = time.monotonic(), 0
    while True:
        got = len(sender.recv(16384 if ALLOWED else 1 << 20))
        if not got:
            return
        taken += got
        if ALLOWED:
            time.sleep(max(0.0, began + taken / ALLOWED - time.monotonic()))
            # Time in which nothing came is not saved up.
            began = max(began, time.monotonic() - taken / ALLOWED)


with socket.socket() as door:
    door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if ALLOWED:
        door.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 32768)
    door.bind(("127.0.0.1", @{port}))
    door.listen()
    while True:
        sender, _ = door.accept()
        threading.Thread(target=take, args=(sender,), daemon=True).start()
