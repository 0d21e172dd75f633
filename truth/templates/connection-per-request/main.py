import concurrent.futures
import contextlib
import hashlib
import json
import queue
import socket
import threading
import time

idle, lock, opening = queue.SimpleQueue(), threading.Lock(), [0.0]


class Session:
    def __init__(self):
        began = time.monotonic()
        self.line = socket.create_connection(("127.0.0.1", @{back}))
        self.line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.answers = self.line.makefile("rb")
        self.say(b"HELLO claims\n")
        for step in range(1, @{steps}):
            self.say(b"AUTH %d\n" % step)
        with lock:
            opening[0] += time.monotonic() - began

    def say(self, text):
        self.line.sendall(text)
        return self.answers.readline()

    def close(self):
        self.answers.close()
        self.line.close()


@contextlib.contextmanager
def session():
    try:
        one = idle.get_nowait()
    except queue.Empty:
        one = Session()
    yield one
    if @{keep} == 1:
        idle.put(one)
    else:
        one.close()


def @{fn}(name):
    with session() as directory:
        mark = directory.say(b"GET %s\n" % name)
    for _ in range(@{rounds}):
        mark = hashlib.sha1(mark).digest()
    return mark


def @{fn2}(number):
    return [@{fn}(b"claim-%d-%d" % (number, i)) for i in range(1 if @{keep} == 2 else @{calls})]


def main():
    units, busy, began = 0, 0.0, time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(1, "desk") as desk:
        while time.monotonic() - began < @{seconds}:
            start = time.monotonic()
            desk.submit(@{fn2}, units).result()
            units += 1
            busy += time.monotonic() - start
            time.sleep(max(0.0, began + units / @{pace} - time.monotonic()))
    with open("@{report}", "w") as out:
        json.dump({"units": units, "seconds": busy, "culprit": opening[0]}, out)


main()
