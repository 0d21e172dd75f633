"""Hosts that deliver mail by way of a balancer: it says first who they are."""
import json
import random
import socket
import threading
import time

end = time.monotonic() + @{seconds}
took, errors, lock = [], 0, threading.Lock()


def deliver(chance, number):
    address = f"{chance.choice([81, 94, 185, 203])}.{chance.randrange(1, 250)}.{chance.randrange(1, 250)}.{chance.randrange(1, 250)}"
    with socket.create_connection(("127.0.0.1", @{port}), 10) as line, line.makefile("rb") as answers:
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        line.sendall(b"PROXY TCP4 %s 192.0.2.10 %d 25\r\n" % (address.encode(), 20000 + number % 30000))
        if not answers.readline().startswith(b"220"):
            raise OSError("no greeting")
        line.sendall(b"MAIL FROM:<order-%d@example.com> SIZE=%d\r\n" % (number, chance.randrange(500, 90000)))
        if not answers.readline().startswith(b"250"):
            raise OSError("not taken")


def host(place):
    global errors
    chance, number = random.Random(place), place
    while time.monotonic() < end:
        began = time.monotonic()
        try:
            deliver(chance, number)
            with lock:
                took.append(time.monotonic() - began)
        except OSError:
            errors += 1
        number += @{clients}
        time.sleep(@{think} / 1000 * chance.uniform(0.5, 1.5))


hosts = [threading.Thread(target=host, args=(place,)) for place in range(@{clients})]
for one in hosts:
    one.start()
for one in hosts:
    one.join()
with open("@{report}", "w") as out:
    json.dump({"units": len(took), "seconds": sum(took), "errors": errors}, out)
