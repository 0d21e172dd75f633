"""Posts reminders of appointments to the practices' systems: workers take them from the queue."""
import hashlib
import http.client
import json
import os
import socket
import threading
import time


class Totals:
    def __init__(self):
        self.hold = threading.Lock()
        self.units, self.seconds, self.refused = 0, 0.0, 0.0

    def add(self, units, seconds, refused):
        with self.hold:
            self.units += units
            self.seconds += seconds
            self.refused += refused


class Broker:
    def __init__(self):
        self.line = socket.create_connection(("127.0.0.1", @{queue}))
        self.line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.answers = self.line.makefile("rb")

    def ask(self, text):
        self.line.sendall(text.encode() + b"\n")
        return self.answers.readline()

    def take(self):
        return json.loads(self.ask("take"))

    def done(self, task):
        self.ask(f"done {task['id']}")

    def again(self, task):
        self.ask(f"again {task['id']} {min(2000, @{first} << task['tries'])}")


class Worker(threading.Thread):
    def __init__(self, totals):
        super().__init__(daemon=True)
        self.totals = totals
        self.broker = Broker()
        self.gate = http.client.HTTPConnection("127.0.0.1", @{clinic}, timeout=10)

    def letter(self, task):
        mark = str(task["patient"]).encode()
        for _ in range(@{rounds} * 10):
            mark = hashlib.sha256(mark).digest()
        return json.dumps({"patient": task["patient"], "mark": mark.hex()[:16], "text": task["text"]})

    def call(self, method, path, body=None):
        self.gate.request(method, path, body=body, headers={"Content-Type": "application/json"})
        answer = self.gate.getresponse()
        return answer.status, json.loads(answer.read())

    def @{fn}(self, task):
        path = f"/@{topic}/{task['practice']}/{task['id']}"
        start = time.monotonic()
        status, _ = self.call("POST", path, self.letter(task))
        if status == 503:
            self.broker.again(task)
            took = time.monotonic() - start
            self.totals.add(0, took, took)
            return
        self.broker.done(task)
        took = time.monotonic() - start
        while @{receipts}:
            time.sleep(@{receipts} / 1000)
            start = time.monotonic()
            _, told = self.call("GET", path)
            took += time.monotonic() - start
            if told["state"] == "read":
                break
        self.totals.add(1, took, 0.0)

    def run(self):
        while True:
            self.@{fn}(self.broker.take())


def main():
    totals = Totals()
    for _ in range(@{workers}):
        Worker(totals).start()
    time.sleep(@{seconds})
    with totals.hold, open("@{report}", "w") as out:
        json.dump({"units": totals.units, "seconds": totals.seconds, "culprit": totals.refused}, out)
        out.flush()
        os._exit(0)


main()
