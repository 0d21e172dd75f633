"""Sends batches of quotes: `batch N`, then N lines; as fast as the receiver asks for."""
import random
import socket
import threading
import time


def lines(count):
    chance = random.Random(count)
    pool = []
    for _ in range(200):
        line = f"{chance.randrange(10**6)} {chance.randrange(9999)} "
        pool.append(line + "".join(chance.choices("ABCDEFGHKLMNPRSTXZ", k=max(3, @{width} - len(line) - 1))))
    return ("\n".join(pool[n % 200] for n in range(count)) + "\n").encode()


def send(peer):
    peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        rate, count = peer.makefile().readline().split()
        body = f"batch {count}\n".encode() + lines(int(count))
        due = time.monotonic()
        while True:
            due = max(due + 1 / float(rate), time.monotonic())
            time.sleep(max(0.0, due - time.monotonic()))
            peer.sendall(body)
    except (OSError, ValueError):
        peer.close()


server = socket.create_server(("127.0.0.1", @{port}))
while True:
    threading.Thread(target=send, args=(server.accept()[0],), daemon=True).start()
