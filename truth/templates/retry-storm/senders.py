"""Senders of orders: one order after another, each until it is taken."""
import json
import random
import socket
import threading
import time

END = time.monotonic() + @{seconds}
took, tries, lock = [], [0], threading.Lock()


class Sender:
    def __init__(self):
        self.line = None

    def send(self, text):
        if self.line is None:
            self.line = socket.create_connection(("127.0.0.1", @{port}))
            self.line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.line.settimeout(@{limit} / 1000)
        self.line.sendall(text)
        with lock:
            tries[0] += 1

    def once(self, text, key):
        self.send(text)
        while True:
            answer = self.line.recv(65536)
            if not answer:
                raise OSError("closed")
            # Late answers to what is done already may come first.
            if key in answer:
                return

    def until_taken(self, text, key):
        while time.monotonic() < END + 2:
            try:
                return self.once(text, key)
            except TimeoutError:
                if @{anew}:
                    self.line.close()
                    self.line = None


def sender(number):
    chance, one, n = random.Random(number), Sender(), number
    while time.monotonic() < END:
        if not @{poll} or n <= number:
            n += @{senders}
        key = b"%06d" % n
        body = key + b";" + b"%x" % n * (1 + @{bytes} // 6)
        text = b"POST /@{topic}/%s HTTP/1.1\r\nHost: here\r\nContent-Length: %d\r\n\r\n%s" % (key, len(body), body)
        began = time.monotonic()
        one.until_taken(text, key)
        with lock:
            took.append(time.monotonic() - began)
        time.sleep(@{think} / 1000 * chance.uniform(0.5, 1.5))


threads = [threading.Thread(target=sender, args=(n,), daemon=True) for n in range(@{senders})]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join(@{seconds} + 10)
with open("@{report}", "w") as out:
    json.dump({"units": len(took), "seconds": sum(took), "tries": tries[0]}, out)
