"""Converts prices for visitors; the rates come from the bank."""
import json
import socket
import threading
import time


class Rates:
    def __init__(self):
        self.@{lock}_lock = threading.Lock()
        self.rate = 1.0
        self.bank = socket.create_connection(("127.0.0.1", @{port}))
        self.answers = self.bank.makefile("r")

    def @{fn}(self):
        if @{inside}:
            with self.@{lock}_lock:
                self.bank.sendall(b"rate\n")
                self.rate = float(self.answers.readline())
        else:
            self.bank.sendall(b"rate\n")
            rate = float(self.answers.readline())
            with self.@{lock}_lock:
                self.rate = rate

    def now(self, visitor):
        asked = time.monotonic()
        with self.@{lock}_lock:
            visitor.waited += time.monotonic() - asked
            return self.rate


class Visitor(threading.Thread):
    def __init__(self, number, rates, began):
        super().__init__(name=f"visitor-{number}")
        self.number, self.rates, self.began = number, rates, began
        self.units, self.busy, self.waited = 0, 0.0, 0.0

    def run(self):
        while time.monotonic() - self.began < @{seconds}:
            start = time.monotonic()
            rate = self.rates.now(self)
            reading = time.monotonic()
            while time.monotonic() - reading < @{effort} / 1000:
                "%.2f" % (rate * self.units)
            self.units += 1
            self.busy += time.monotonic() - start
            late = time.monotonic() - self.began - self.number * 0.007
            time.sleep(1 / @{rate} - late % (1 / @{rate}))


def refresh(rates):
    while True:
        rates.@{fn}()
        time.sleep(@{every} / 1000)


rates = Rates()
threading.Thread(target=refresh, args=(rates,), name="refresh", daemon=True).start()
began = time.monotonic()
visitors = [Visitor(number, rates, began) for number in range(@{threads})]
for visitor in visitors:
    visitor.start()
for visitor in visitors:
    visitor.join()
with open("@{report}", "w") as out:
    json.dump({"units": sum(v.units for v in visitors), "seconds": sum(v.busy for v in visitors), "culprit": sum(v.waited for v in visitors)}, out)
