"""Desks that ask for one card after another, each over its own line that stays."""
import json
import random
import socket
import threading
import time

END = time.monotonic() + @{seconds}
took, lock = [], threading.Lock()


def desk(number):
    line = socket.create_connection(("127.0.0.1", @{port}))
    lines = line.makefile("rb")
    chance = random.Random(number)
    while time.monotonic() < END:
        began = time.monotonic()
        line.sendall(b"card %d\n" % chance.randint(1, 9999))
        length = int(lines.readline())
        lines.read(length)
        with lock:
            took.append(time.monotonic() - began)
        time.sleep(@{think} / 1000 * chance.uniform(0.5, 1.5))


threads = [threading.Thread(target=desk, args=(n,), daemon=True) for n in range(@{clients})]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join(@{seconds} + 10)
with open("@{report}", "w") as out:
    json.dump({"units": len(took), "seconds": sum(took)}, out)
