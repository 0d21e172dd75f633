"""Mails the tickets of a concert hall: each with its ticket attached."""
import base64
import json
import queue
import subprocess
import threading
import time

BOX = "@{work}/@{outbox}"
jobs = queue.Queue(maxsize=64)
lock = threading.Lock()
sums = {"units": 0, "seconds": 0.0, "culprit": 0.0}


def @{fn}(content):
    done = subprocess.run(["@{tool}", "-w", "76"], input=content, stdout=subprocess.PIPE, check=True)
    return done.stdout.decode()


def by_library(content):
    coded = base64.b64encode(content) if "@{tool}" == "base64" else base64.b32encode(content)
    return lines(coded.decode())


def lines(text):
    return "\n".join(text[at : at + 76] for at in range(0, len(text), 76)) + "\n"


def ticket(number):
    """The ticket, as the printer of the hall wants it."""
    row = bytes((number * 31 + i * i) & 255 for i in range(256))
    return row * (@{kb} * 4)


def mail(number, attached):
    return f"To: guest-{number}@example.org\nSubject: Your ticket {number}\nMIME-Version: 1.0\nContent-Transfer-Encoding: @{tool}\n\n{attached}"


def sender(name):
    with open(f"{BOX}/{name}.mbox", "w") as box:
        while (number := jobs.get()) is not None:
            start = time.monotonic()
            content = ticket(number)
            before = time.monotonic()
            coded = @{fn}(content) if "@{coder}" == "program" else by_library(content)
            took = time.monotonic() - before
            if box.tell() > 4_000_000:
                box.seek(0)
            box.write(mail(number, coded))
            with lock:
                sums["units"] += 1
                sums["seconds"] += time.monotonic() - start
                sums["culprit"] += took
            if @{every} and number % @{every} == 0:
                @{fn}(json.dumps(sums).encode())


def main():
    senders = [threading.Thread(target=sender, args=(f"sender-{i}",)) for i in range(@{senders})]
    for one in senders:
        one.start()
    began, number = time.monotonic(), 0
    while time.monotonic() - began < @{seconds}:
        number += 1
        jobs.put(number)
        time.sleep(max(0.0, began + number / @{rate} - time.monotonic()))
    for _ in senders:
        jobs.put(None)
    for one in senders:
        one.join()
    with open("@{report}", "w") as report:
        json.dump(sums, report)


main()
