"""Charging stations: each that is connected to says its number, and now and then how much has been charged."""
import random
import selectors
import socket
import time

selector, chance = selectors.DefaultSelector(), random.Random(4)
door = socket.create_server(("127.0.0.1", @{feed}), backlog=256)
door.setblocking(False)
selector.register(door, selectors.EVENT_READ)
lines, due = [], time.monotonic()
while True:
    for _ in selector.select(0 if lines else None):
        try:
            line = door.accept()[0]
            line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            lines.append(line)
        except BlockingIOError:
            pass
    if len(lines) < @{stations} / 2:
        continue
    due = max(due + 1 / @{rate}, time.monotonic() - 0.002)
    time.sleep(max(0.0, due - time.monotonic()))
    line = chance.choice(lines)
    try:
        line.send(b"%d;%.3f;%d\n" % (chance.randrange(10**6), chance.random() * 22, int(time.time())))
    except OSError:
        lines.remove(line)
