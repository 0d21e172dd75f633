"""The fare engine of a ferry line: what a booking costs, by the rules of its route."""
import json
import socket
import time

KINDS = ("adult", "child", "senior", "resident", "car", "van", "trailer", "bicycle", "dog", "cabin")


class Metrics:
    def __init__(self, host, port):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.connect((host, port))
        self.counts, self.due, self.spent = {}, 0.0, 0.0

    def count(self, name):
        if "@{send}" == "each":
            self.@{fn}(f"ferry.fares.{name}:1|c")
        else:
            self.counts[name] = self.counts.get(name, 0) + 1

    def @{fn}(self, text):
        start = time.monotonic()
        try:
            self.socket.send(text.encode())
        except ConnectionRefusedError:
            pass
        self.spent += time.monotonic() - start

    def tick(self, now):
        if not self.counts or now < self.due:
            return
        self.due = now + @{period}
        lines = [f"ferry.fares.{name}:{n}|c" for name, n in self.counts.items()]
        self.counts = {}
        for i in range(0, len(lines), 30):
            self.@{fn}("\n".join(lines[i:i + 30]))


class Rule:
    def __init__(self, number):
        self.name = f"{KINDS[number % len(KINDS)]}.{number // len(KINDS)}"
        self.kind = number % len(KINDS)
        self.steps = [0.9 + (number * 7 + i * 13) % 20 / 100 for i in range(@{effort})]

    def apply(self, price, season):
        for step in self.steps:
            price = price * step + season
        return min(max(price, 1.0), 900.0)


class Fares:
    def __init__(self, metrics):
        self.metrics = metrics
        self.rules = [Rule(number) for number in range(@{rules})]
        self.taken = {}

    def price(self, booking):
        total = 0.0
        for rule in self.rules:
            total += rule.apply(booking["base"], booking["season"]) / len(self.rules)
            if "@{detail}" == "rule":
                self.metrics.count("rule." + rule.name)
        if "@{detail}" == "booking":
            self.metrics.count("booking")
        self.taken[booking["sailing"]] = self.taken.get(booking["sailing"], 0.0) + total
        return total


def bookings():
    number = 0
    while True:
        number += 1
        yield {"number": number, "base": 20.0 + number % 37, "season": 0.2 + number % 5 / 10, "sailing": number % 48}


def main():
    metrics = Metrics("127.0.0.1", @{stats})
    fares = Fares(metrics)
    units, busy = 0, 0.0
    due = time.monotonic()
    end = due + @{seconds}
    for booking in bookings():
        start = time.monotonic()
        if start >= end:
            break
        fares.price(booking)
        metrics.tick(start)
        now = time.monotonic()
        busy += now - start
        units += 1
        due = max(due + 1 / @{rate}, now)
        if due > now + 0.0005:
            time.sleep(due - now)
    with open("@{report}", "w") as out:
        json.dump({"units": units, "seconds": busy, "culprit": metrics.spent}, out)


main()
