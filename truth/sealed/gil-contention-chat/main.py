"""A chat server: keeps the last lines of each room. Beside that it finds which words are alike, for the search."""
import collections
import multiprocessing
import os
import random
import socketserver
import threading
import time

rooms = collections.defaultdict(lambda: collections.deque(maxlen=50))
related = {}


def words(count):
    chance = random.Random(count)
    return ["".join(chance.choice("aeioubdfghklmnprstvw") for _ in range(chance.randint(5, 11))) for _ in range(count)]


def distance(one, other):
    """How many letters have to be changed to make one word the other."""
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        previous, row[0] = row[0], i
        for j, mate in enumerate(other, 1):
            previous, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, previous + (letter != mate))
    return row[-1]


def @{fn}(known):
    found = {}
    for word in known:
        found[word] = min((other for other in known if other != word), key=lambda other: distance(word, other))
    return found


def alone(known, results):
    os.nice(10)
    while True:
        results.put(@{fn}(known))
        time.sleep(@{pause})


def relate(known):
    results = multiprocessing.SimpleQueue()
    if @{apart}:
        multiprocessing.Process(target=alone, args=(known, results), daemon=True).start()
    while True:
        related.update(results.get() if @{apart} else @{fn}(known))
        if not @{apart}:
            time.sleep(@{pause})


class Guest(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True

    def handle(self):
        for line in self.rfile:
            _, room, *said = line.decode().split()
            kept = rooms[hash(room) % @{rooms}]
            kept.append(" ".join(said))
            alike = [related.get(word, "") for word in said]
            self.wfile.write(f"{room} {len(kept)} {' '.join(alike)}\n".encode())


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 64


if __name__ == "__main__":
    threading.Thread(target=relate, args=(words(@{pick}),), daemon=True, name="related").start()
    with Server(("127.0.0.1", @{port}), Guest) as server:
        server.serve_forever()
