"""The boats at the marks of the course: tells who has crossed which line, the next one as soon as the office has noted the one before."""
import random
import socket
import time

chance = random.Random(7)
door = socket.create_server(("127.0.0.1", @{marks}), backlog=8)
while True:
    office, _ = door.accept()
    office.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        with office, office.makefile("rb") as noted:
            due, at = time.monotonic(), 0
            while True:
                at += chance.randrange(5, 90)
                office.sendall(b"%d %d %d\n" % (chance.randrange(@{boats}), chance.randrange(6), at))
                if not noted.readline():
                    break
                now = time.monotonic()
                due = max(due + 1 / @{rate}, now)
                time.sleep(due - now)
    except OSError:
        pass
