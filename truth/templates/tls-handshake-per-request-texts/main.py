"""Reminds patients of their appointments by text messages, through the gate of a carrier."""
import json
import logging
import re
import socket
import ssl
import threading
import time

logging.basicConfig(filename="@{work}/reminders.log", level=logging.INFO, format="%(asctime)s %(threadName)s %(message)s")
log = logging.getLogger("reminders")
WORDS = "please come to our practice at the time that you chose and bring your card with all letters of other doctors".split()
SHORT = [("please", "pls"), ("and", "&"), ("your", "yr"), ("letters", "ltrs"), ("doctors", "drs")]


class Gate:
    """The line to the carrier."""

    def __init__(self, context):
        self.context, self.line, self.answers, self.used, self.spent = context, None, None, 0, 0.0

    def @{fn}(self):
        if self.line is not None and self.used < @{each}:
            return
        start = time.monotonic()
        if self.line is not None:
            self.answers.close()
            self.line.close()
        raw = socket.create_connection(("127.0.0.1", @{carrier}), timeout=20)
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.line = self.context.wrap_socket(raw, server_hostname="carrier.example.net")
        self.answers, self.used = self.line.makefile("rb"), 0
        self.spent += time.monotonic() - start

    def send(self, message):
        self.@{fn}()
        self.line.sendall(json.dumps(message).encode() + b"\n")
        self.used += 1
        answer = json.loads(self.answers.readline())
        if answer["id"] != message["id"]:
            raise RuntimeError("an answer to something else")
        return answer


def compose(number):
    """The text, made shorter until it fits into few parts."""
    text = " ".join(WORDS[(number + i) % len(WORDS)] for i in range(@{words}))
    for _ in range(@{effort}):
        for long, short in SHORT:
            text = re.sub(rf"\b{long}\b", short, text) if len(text) % 2 else re.sub(rf"\b{long}\b", long, text)
    return {"id": number, "to": f"+49160{number % 10**7:07d}", "text": f"{8 + number % 10}:30 {text}"}


def work(first, gate, result):
    units, busy, number = 0, 0.0, first
    began = due = time.monotonic()
    while time.monotonic() - began < @{seconds}:
        due = max(due + 1 / @{rate}, time.monotonic())
        time.sleep(max(0.0, due - time.monotonic()))
        start = time.monotonic()
        answer = gate.send(compose(number))
        log.info("message %d: %s, %d parts", number, answer["state"], answer["parts"])
        busy += time.monotonic() - start
        units += 1
        number += @{senders}
    result.append((units, busy, gate.spent))


def main():
    context = ssl.create_default_context(cafile="@{work}/carrier.pem")
    result = []
    senders = [threading.Thread(target=work, args=(n, Gate(context), result), name=f"sender-{n}") for n in range(@{senders})]
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join()
    units, busy, spent = map(sum, zip(*result))
    with open("@{report}", "w") as out:
        json.dump({"units": units, "seconds": busy, "culprit": spent}, out)


main()
