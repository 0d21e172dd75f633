"""Delivers webhooks: what happens to an order is told to each host that subscribed to it."""
import hashlib
import hmac
import http.client
import json
import logging
import socket
import ssl
import time

logging.basicConfig(filename="@{work}/deliveries.log", level=logging.INFO, format="%(asctime)s %(message)s")
log = logging.getLogger("deliveries")
HOST = "hooks.example.net"


class Subscriber:
    def __init__(self, number):
        self.address = f"127.@{a}.@{b}.{number + 1}"
        self.secret = hashlib.sha256(f"subscriber {number}".encode()).digest()
        self.delivered = self.refused = 0

    def signature(self, body):
        mark = body
        for _ in range(@{effort}):
            mark = hmac.new(self.secret, mark + body, "sha256").digest()
        return mark.hex()


class Line(http.client.HTTPSConnection):
    """To an address that the subscriber gave us; the certificate is that of its name."""

    def __init__(self, subscriber, context):
        super().__init__(HOST, @{port}, timeout=10, context=context)
        self.trust, self.address = context, subscriber.address

    def connect(self):
        raw = socket.create_connection((self.address, self.port), self.timeout)
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sock = self.trust.wrap_socket(raw, server_hostname=HOST)


class Deliverer:
    def __init__(self):
        self.subscribers = [Subscriber(number) for number in range(@{subscribers})]
        self.context, self.made = None, 0.0
        self.spent = 0.0

    def @{fn}(self):
        now = time.monotonic()
        if self.context is None or now - self.made >= @{keep}:
            self.context = ssl.create_default_context(cafile="@{work}/@{bundle}")
            self.made = now
        return self.context

    def deliver(self, event):
        to = self.subscribers[event["order"] % len(self.subscribers)]
        body = json.dumps(event).encode()
        head = {"Content-Type": "application/json", "X-Signature": to.signature(body)}
        asked = time.monotonic()
        trust = self.@{fn}()
        self.spent += time.monotonic() - asked
        line = Line(to, trust)
        try:
            line.request("POST", "/events", body, head)
            answer = line.getresponse()
            answer.read()
        finally:
            line.close()
        if answer.status == 202:
            to.delivered += 1
        else:
            to.refused += 1
        log.info("order %d to %s: %d", event["order"], to.address, answer.status)


def event_of(number):
    lines = [{"article": (number * 31 + i * 7) % 90000, "count": 1 + i % 4, "cents": 99 + i * 250} for i in range(@{lines})]
    total = sum(line["count"] * line["cents"] for line in lines)
    return {"order": number, "state": ("paid", "packed", "sent")[number % 3], "lines": lines, "total": total}


def main():
    deliverer, units, busy = Deliverer(), 0, 0.0
    deliverer.@{fn}()
    began = due = time.monotonic()
    while time.monotonic() - began < @{seconds}:
        due = max(due + 1 / @{rate}, time.monotonic())
        time.sleep(max(0.0, due - time.monotonic()))
        start = time.monotonic()
        deliverer.deliver(event_of(units))
        busy += time.monotonic() - start
        units += 1
    if any(one.refused for one in deliverer.subscribers):
        log.warning("some were refused")
    with open("@{report}", "w") as out:
        json.dump({"units": units, "seconds": busy, "culprit": deliverer.spent}, out)


main()
