"""Phones: each shows the first orders of a customer. In the office somebody may fetch the file of all."""
import json
import random
import socket
import threading
import time

END = time.monotonic() + @{seconds}
took, lock = [], threading.Lock()


class Phone:
    def __init__(self):
        self.connection = socket.socket()
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 96 << 10)
        self.connection.settimeout(20)
        self.connection.connect(("10.@{net}.@{sub}.2", @{port}))
        self.answers = self.connection.makefile("rb")

    def ask(self, path):
        self.connection.sendall(b"GET %s HTTP/1.1\r\nHost: orders\r\n\r\n" % path.encode())
        length = None
        while head := self.answers.readline().strip().lower():
            if head.startswith(b"content-length:"):
                length = int(head.split(b":")[1])
        body = self.answers.read(length)
        if len(body) != length:
            raise OSError("cut")
        return body


def customer(number):
    phone, chance = Phone(), random.Random(number)
    time.sleep(chance.random() * @{think} / 1000)
    while (start := time.monotonic()) < END:
        orders = json.loads(phone.ask("/customers/%d/orders" % chance.randrange(900)))
        shown = orders["orders"][:20]
        with lock:
            took.append((time.monotonic() - start) * bool(shown))
        time.sleep(@{think} / 1000 * chance.uniform(0.5, 1.5))


def office():
    phone = Phone()
    while time.monotonic() < END:
        phone.ask("/files/orders.csv")
        time.sleep(random.uniform(0.5, 1.2))


threads = [threading.Thread(target=customer, args=(number,), daemon=True) for number in range(@{clients})]
if @{downloads}:
    threading.Thread(target=office, daemon=True).start()
for thread in threads:
    thread.start()
for thread in threads:
    thread.join(max(0.0, END - time.monotonic()) + 20)
with open("@{report}", "w") as out:
    json.dump({"units": len(took), "seconds": sum(took)}, out)
