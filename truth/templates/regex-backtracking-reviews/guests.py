"""Guests of hotels who write reviews: a line each, answered by what the filter says of it."""
import json
import random
import socket
import threading
import time

WORDS = "room view staff quiet breakfast bed late clean shower stairs garden street window friendly walk again coffee towel".split()
took, lock, began = [], threading.Lock(), time.monotonic()


def review(chance):
    if chance.random() < 0.3:
        return "a good " + chance.choice(WORDS) + ". we come again."
    sentences = [" ".join(chance.choices(WORDS, k=chance.randrange(1, 3))) for _ in range(@{stops})]
    if chance.random() < 0.1:
        return "buy at www.cheap.example. " + ". ".join(sentences) + ". only 20 eur"
    return "pictures are at www.guest.example. " + ". ".join(sentences) + "."


def guest(number):
    chance = random.Random(number)
    line = socket.create_connection(("127.0.0.1", @{port}), 10)
    line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    answers = line.makefile()
    while time.monotonic() - began < @{seconds}:
        text = (review(chance) + "\n").encode()
        start = time.monotonic()
        line.sendall(text)
        if not answers.readline():
            raise SystemExit("the filter has gone")
        with lock:
            took.append(time.monotonic() - start)
        time.sleep(@{pause} / 1000 * chance.uniform(0.5, 1.5))


guests = [threading.Thread(target=guest, args=(number,)) for number in range(@{guests})]
for one in guests:
    one.start()
for one in guests:
    one.join()
with open("@{report}", "w") as out:
    json.dump({"units": len(took), "seconds": sum(took)}, out)
