"""Visitors who wait so long and not longer; each asks for something else each time."""
import json
import random
import socket
import struct
import threading
import time

END = time.monotonic() + @{seconds}
took, gone, lock = [], [0], threading.Lock()


def ask(line, number):
    line.sendall(b"GET /@{topic}/%d HTTP/1.1\r\nHost: here\r\n\r\n" % number)
    got = b""
    while b"\r\n\r\n" not in got:
        part = line.recv(65536)
        if not part:
            raise OSError("closed")
        got += part
    head, _, body = got.partition(b"\r\n\r\n")
    left = int(head.lower().split(b"content-length:")[1].split()[0]) - len(body)
    while left > 0:
        left -= len(line.recv(65536)) or left


def visitor(number):
    chance, line, n = random.Random(number), None, number
    while time.monotonic() < END:
        if line is None:
            line = socket.create_connection(("127.0.0.1", @{port}))
            line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        line.settimeout(0.001 if chance.random() < @{leave} else @{patience} / 1000)
        n += @{clients}
        began = time.monotonic()
        try:
            ask(line, n)
            with lock:
                took.append(time.monotonic() - began)
        except OSError:
            with lock:
                gone[0] += 1
            if chance.random() < 0.5:
                line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            line.close()
            line = None
        time.sleep(@{think} / 1000 * chance.uniform(0.5, 1.5))


threads = [threading.Thread(target=visitor, args=(n,), daemon=True) for n in range(@{clients})]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join(@{seconds} + 10)
with open("@{report}", "w") as out:
    json.dump({"units": len(took), "seconds": sum(took), "errors": gone[0]}, out)
