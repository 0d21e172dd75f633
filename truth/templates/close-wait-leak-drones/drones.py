"""Flights: each connects, tells some positions, waits for each answer, lands and hangs up."""
import json
import random
import socket
import threading
import time

took, lock, flying = [], threading.Lock(), threading.Semaphore(30)


def fly(number):
    chance = random.Random(number)
    with socket.create_connection(("127.0.0.1", @{port}), 10) as line:
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        answers = line.makefile("rb")
        for point in range(@{points}):
            start = time.monotonic()
            line.sendall(b"D%d %d %.5f %.5f %d\n" % (number, point, 46 + chance.random(), 7 + chance.random(), chance.randrange(120)))
            if not answers.readline():
                break
            with lock:
                took.append(time.monotonic() - start)
            time.sleep(@{gap})
        answers.close()
    flying.release()


began, flights = time.monotonic(), 0
while time.monotonic() - began < @{seconds}:
    flying.acquire()
    threading.Thread(target=fly, args=(flights,), daemon=True).start()
    flights += 1
    time.sleep(max(0.0, began + flights / @{landings} - time.monotonic()))
time.sleep(0.1)
with open("@{report}", "w") as out:
    json.dump({"units": len(took), "seconds": sum(took)}, out)
