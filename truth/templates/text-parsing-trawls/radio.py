"""The radio on shore: hands out what the ships said, one transmission after another. Each has its length before it."""
import datetime
import random
import socket
import struct
import sys
import threading
import time

port, form, lines, ships, rate = int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), float(sys.argv[5])


def said(chance):
    at = int(chance.uniform(1.6e9, 1.7e9))
    ship, lat, lon = chance.randrange(ships), chance.randint(300000, 700000), chance.randint(-300000, 300000)
    knots, catch = chance.randrange(220), chance.randrange(9000)
    if form == "record":
        return struct.pack("<IHiiHH", at, ship, lat, lon, knots, catch)
    when = datetime.datetime.fromtimestamp(at, datetime.timezone.utc).strftime("%Y-%m-%d %H:%M:%S")
    return (f"{when} [shore-{ship % 5}] INFO ship=FV{ship:04d} lat={lat / 10000:.4f} lon={lon / 10000:.4f} "
            f"speed={knots / 10:.1f}kn catch={catch}kg gear=otter status=\"under way\"\n").encode()


def serve(line):
    began, n = time.monotonic(), 0
    try:
        while True:
            line.sendall(ready[n % len(ready)])
            n += 1
            time.sleep(max(0.0, began + n / rate - time.monotonic()))
    except OSError:
        pass


ready = []
for seed in range(12):
    chance = random.Random(seed)
    body = b"".join(said(chance) for _ in range(lines))
    ready.append(struct.pack("<I", len(body)) + body)
door = socket.create_server(("127.0.0.1", port))
while True:
    threading.Thread(target=serve, args=(door.accept()[0],), daemon=True).start()
