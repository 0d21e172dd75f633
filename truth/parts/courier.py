"""Brings deliveries: a file into the inbox, then its path as a line, as fast as the receiver asked for; never more than a few ahead."""
import mmap
import os
import random
import socket
import time

INBOX = "@{work}/@{inbox}"
DIRECT = "@{arrival}" == "direct"


def body_of(rows):
    chance = random.Random(rows)
    if "@{content}" == "text":
        letters = "abcdefghijklmnopqrstuvwxyz0123456789 ;;"
        pool = ["%06d;%s" % (chance.randrange(10**6), "".join(chance.choices(letters, k=max(1, @{row} - 8)))) for _ in range(500)]
        return ("\n".join(pool[n % 500] for n in range(rows)) + "\n").encode()
    size = rows * @{row}
    return chance.randbytes(size) if size < 1 << 20 else (chance.randbytes(1 << 20) * (size // (1 << 20) + 1))[:size]


def put(path, body):
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | (os.O_DIRECT if DIRECT else 0), 0o644)
    view = memoryview(body)
    while view:
        view = view[os.write(fd, view[: 1 << 20]):]
    os.close(fd)


def deliver(peer):
    hello = peer.makefile().readline().split()
    if not hello:
        return
    rate, body = float(hello[0]), body_of(int(hello[1]))
    if DIRECT:
        size = len(body) // 4096 * 4096
        aligned = mmap.mmap(-1, size)
        aligned[:] = body[:size]
        body = aligned
    waiting, number, due = [], 0, time.monotonic()
    while True:
        waiting = [path for path in waiting if os.path.exists(path)]
        if len(waiting) >= 3:
            time.sleep(0.01)
            continue
        due = max(due + 1 / rate, time.monotonic())
        time.sleep(max(0.0, due - time.monotonic()))
        number += 1
        path = f"{INBOX}/{number:05}-@{feed}"
        put(path, body)
        waiting.append(path)
        peer.sendall((path + "\n").encode())


def main():
    os.makedirs(INBOX, exist_ok=True)
    server = socket.create_server(("127.0.0.1", @{port}))
    while True:
        peer, _ = server.accept()
        try:
            deliver(peer)
        except OSError:
            pass


main()
