"""A queue of tasks: take one, then say that it is done, or when it shall be given out again."""
import heapq
import json
import random
import socket
import threading
import time

MOST = 400


class Queue:
    def __init__(self):
        self.news = threading.Condition()
        self.due, self.held, self.number = [], {}, 0

    def put(self, task, delay):
        with self.news:
            self.number += 1
            heapq.heappush(self.due, (time.monotonic() + delay, self.number, task))
            self.news.notify()

    def take(self):
        with self.news:
            while True:
                now = time.monotonic()
                if self.due and self.due[0][0] <= now:
                    task = heapq.heappop(self.due)[2]
                    self.held[task["id"]] = task
                    return task
                self.news.wait(self.due[0][0] - now if self.due else None)

    def end(self, number, delay=None):
        with self.news:
            task = self.held.pop(number, None)
        if task and delay is not None:
            task["tries"] += 1
            self.put(task, delay)


QUEUE = Queue()


def fill():
    chance = random.Random(11)
    number = 0
    while True:
        time.sleep(chance.uniform(0.6, 1.4) / @{rate})
        number += 1
        if len(QUEUE.due) < MOST:
            text = f"Your appointment is on day {chance.randrange(1, 90)} at {chance.randrange(7, 18)}:{chance.randrange(6)}0."
            QUEUE.put({"id": number, "practice": chance.randrange(@{practices}), "patient": chance.randrange(10 ** 6), "tries": 0, "text": text}, 0)


def serve(line):
    with line, line.makefile("rb") as asked:
        for words in map(bytes.split, asked):
            if words[0] == b"take":
                task = QUEUE.take()
                line.sendall(json.dumps(task).encode() + b"\n")
            else:
                QUEUE.end(int(words[1]), int(words[2]) / 1000 if words[0] == b"again" else None)
                line.sendall(b"ok\n")


def main():
    threading.Thread(target=fill, daemon=True).start()
    door = socket.create_server(("127.0.0.1", @{queue}), backlog=64)
    while True:
        line, _ = door.accept()
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=serve, args=(line,), daemon=True).start()


main()
