"""The stewards call entries in, the judge's clerk asks for the points of a class from time to time."""
import json
import random
import socket
import threading
import time

units, seconds, held = [0], [0.0], [0.0]
guard = threading.Lock()
end = time.monotonic() + @{seconds}


def door():
    one = socket.create_connection(("127.0.0.1", @{port}), 10)
    one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return one, one.makefile("rb")


def clerk():
    one, answers = door()
    chance, n = random.Random(99), 0
    while time.monotonic() < end:
        one.sendall(b"points %d\n" % n)
        if not answers.readline():
            raise OSError("closed")
        n += 1
        time.sleep(@{pause} / 1000 * chance.uniform(0.5, 1.5))


def steward(number):
    one, answers = door()
    chance = random.Random(number)
    while time.monotonic() < end:
        began = time.monotonic()
        one.sendall(b"call %d\n" % chance.randrange(@{entries}))
        if not answers.readline():
            raise OSError("closed")
        done = time.monotonic()
        with guard:
            units[0] += 1
            seconds[0] += done - began
            if done - began > 0.01:
                held[0] += done - began
        time.sleep(@{think} / 1000 * chance.uniform(0.5, 1.5))


people = [threading.Thread(target=steward, args=(n,), daemon=True) for n in range(@{stewards})]
threading.Thread(target=clerk, daemon=True).start()
for person in people:
    person.start()
for person in people:
    person.join(@{seconds} + 10)
with open("@{report}", "w") as out:
    json.dump({"units": units[0], "seconds": seconds[0], "culprit": held[0]}, out)
