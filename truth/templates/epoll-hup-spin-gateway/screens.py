"""Users, a monitor that asks for reports, and maybe a feed."""
import json
import random
import socket
import struct
import threading
import time

END = time.monotonic() + @{seconds}
took = []


def line():
    connection = socket.create_connection(("127.0.0.1", @{port}), 10)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def user():
    connection = line()
    answers, n = connection.makefile("rb"), 0
    while (start := time.monotonic()) < END:
        n += 1
        connection.sendall(b"get %d\n" % n)
        if not answers.readline():
            return
        took.append(time.monotonic() - start)
        time.sleep(@{think} / 1000 * random.uniform(0.5, 1.5))


def monitor():
    n = 0
    while time.monotonic() < END:
        n += 1
        connection = line()
        connection.sendall(b"report %d\n" % n)
        if @{resets}:
            time.sleep(random.uniform(0.02, 0.06))
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        else:
            connection.recv(4000)
        connection.close()
        time.sleep(@{gap} * random.uniform(0.6, 1.4))


def feed():
    connection, began, n = line(), time.monotonic(), 0
    while time.monotonic() < END:
        n += 1
        connection.sendall(b"put %d 17.25\n" % n)
        if (rest := began + n / max(1, @{feed}) - time.monotonic()) > 0:
            time.sleep(rest)


threads = [threading.Thread(target=user, daemon=True) for _ in range(@{clients})] + [threading.Thread(target=monitor, daemon=True)]
if @{feed}:
    threads.append(threading.Thread(target=feed, daemon=True))
for thread in threads:
    thread.start()
time.sleep(max(0.0, END - time.monotonic()) + 0.1)
with open("@{report}", "w") as out:
    json.dump({"units": len(took), "seconds": sum(took)}, out)
