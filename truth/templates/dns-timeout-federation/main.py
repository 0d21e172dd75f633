"""Delivers chat messages to other domains: where each of them takes them is asked of the name servers."""
import collections
import hashlib
import hmac
import json
import os
import queue
import socket
import struct
import threading
import time

SERVERS = ["@{ns}", "@{second}"]
PATIENCE = @{patience}
SRV = 33
Route = collections.namedtuple("Route", "priority weight port target")


def name_at(data, at):
    labels, end = [], None
    while data[at]:
        if data[at] >= 0xC0:
            end, at = end or at + 2, (data[at] & 0x3F) << 8 | data[at + 1]
            continue
        labels.append(data[at + 1:at + 1 + data[at]].decode("latin-1"))
        at += data[at] + 1
    return ".".join(labels), end or at + 1


def routes(data):
    _, at = name_at(data, 12)
    at += 4
    for _ in range(struct.unpack_from("!H", data, 6)[0]):
        _, at = name_at(data, at)
        kind, _, _, length = struct.unpack_from("!HHIH", data, at)
        at += 10
        if kind == SRV:
            yield Route(*struct.unpack_from("!3H", data, at), name_at(data, at + 6)[0])
        at += length


class Names:
    """The library's own resolver knows no SRV."""

    def @{fn}(self, domain):
        number = os.urandom(2)
        labels = ["_xmpp-server", "_tcp", *domain.split(".")]
        asked = b"".join(bytes([len(label)]) + label.encode() for label in labels)
        question = number + struct.pack("!5H", 0x100, 1, 0, 0, 0) + asked + struct.pack("!xHH", SRV, 1)
        for server in SERVERS * 2:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
                line.settimeout(PATIENCE)
                line.connect((server, 53))
                try:
                    line.send(question)
                    answer = line.recv(1500)
                except OSError:
                    continue
                if answer[:2] == number:
                    return sorted(routes(answer))
        return []


class Deliverer(threading.Thread):
    def __init__(self, messages):
        super().__init__(name="deliverer", daemon=True)
        self.messages, self.names = messages, Names()
        self.units, self.busy, self.looking, self.outbox = 0, 0.0, 0.0, collections.Counter()

    def run(self):
        while (number := self.messages.get()) is not None:
            start = time.monotonic()
            found = self.names.@{fn}(f"d{number}.@{zone}")
            self.looking += time.monotonic() - start
            stanza = f"<message to='user@d{number}.@{zone}'><body>{number}</body></message>"
            key = hmac.new(b"federation", stanza.encode(), hashlib.sha256).hexdigest()
            self.outbox[found[0].target if found else key] += 1
            self.units += 1
            self.busy += time.monotonic() - start


def main():
    messages = queue.Queue(8)
    deliverers = [Deliverer(messages) for _ in range(@{deliverers})]
    for one in deliverers:
        one.start()
    number, began = 0, time.monotonic()
    while time.monotonic() - began < @{seconds}:
        number += 1
        try:
            messages.put(number, timeout=0.1)
        except queue.Full:
            continue
        time.sleep(max(0.0, began + number / @{rate} - time.monotonic()))
    while not messages.empty():
        try:
            messages.get_nowait()
        except queue.Empty:
            break
    for _ in deliverers:
        messages.put(None)
    for one in deliverers:
        one.join()
    sums = {"units": "units", "seconds": "busy", "culprit": "looking"}
    with open("@{report}", "w") as out:
        json.dump({name: sum(getattr(one, of) for one in deliverers) for name, of in sums.items()}, out)


main()
