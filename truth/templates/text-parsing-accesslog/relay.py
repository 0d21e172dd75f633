"""Passes on the access log of all front ends, to whoever says how many lines a second."""
import random
import socket
import threading
import time

chance = random.Random(7)
AGENT = ("Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/118.0.0.0 Safari/537.36 shop/7 " * 3)[:@{agent}]


def line(n):
    return '10.%d.%d.%d - user%d [25/Nov/2026:%02d:%02d:%02d +0000] "GET /shop/item/%d?ref=mail HTTP/1.1" %d %d "https://shop.example/list/%d" "%s" 0.%03d\n' % (
        n % 7, n % 250, n * 7 % 250, n * 31 % 5000, n // 3600 % 24, n // 60 % 60, n % 60, chance.randrange(@{paths}),
        chance.choice([200, 200, 200, 304, 404, 502]), chance.randrange(90000), n % 400, AGENT, chance.randrange(1000))


CHUNKS = ["".join(line(chunk * 100 + n) for n in range(100)).encode() for chunk in range(60)]


def serve(peer):
    try:
        rate = float(peer.makefile().readline() or 0)
        if not rate:
            return
        each, number, due = max(1, int(rate / 100 / 100)), 0, time.monotonic()
        while True:
            peer.sendall(b"".join(CHUNKS[(number + n) % len(CHUNKS)] for n in range(each)))
            number += each
            due = max(due + each * 100 / rate, time.monotonic() - 0.05)
            time.sleep(max(0.0, due - time.monotonic()))
    except OSError:
        pass
    finally:
        peer.close()


server = socket.create_server(("127.0.0.1", @{port}))
while True:
    threading.Thread(target=serve, args=(server.accept()[0],), daemon=True).start()
