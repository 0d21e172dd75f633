import os
import socket
import struct

import json
import time

now = time.monotonic


def wait_until(due):
    time.sleep(max(0.0, due - now()))


def report(units, busy, culprit):
    with open("@{report}", "w") as out:
        json.dump({"units": units, "seconds": busy, "culprit": culprit}, out)

A, AAAA = 1, 28


class Names:
    """A small resolver: the library's own does not give the time to live."""

    def __init__(self, server):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.settimeout(5)
        self.socket.connect((server, 53))
        self.search, self.number = os.environ["LOCALDOMAIN"].split(), 0

    def ask(self, name, kind):
        self.number = (self.number + 1) & 0xFFFF
        labels = b"".join(bytes([len(label)]) + label.encode() for label in name.split("."))
        self.socket.send(struct.pack("!6H", self.number, 0x100, 1, 0, 0, 0) + labels + struct.pack("!xHH", kind, 1))
        answer = b""
        while answer[:2] != struct.pack("!H", self.number):
            answer = self.socket.recv(1500)
        return answer[-4:] if answer[7] else None

    def @{fn}(self, name):
        tries = [name[:-1]] if name.endswith(".") else [*(f"{name}.{domain}" for domain in self.search), name]
        for full in tries:
            found = [address for address in (self.ask(full, A), self.ask(full, AAAA)) if address]
            if found:
                return found
        raise LookupError(name)


def main():
    names, known = Names("@{ns}"), None
    units, busy, culprit = 0, 0.0, 0.0
    began = now()
    while now() - began < @{seconds}:
        start = now()
        if known is None or not @{cache} or units % (@{cache} + 1) == 0:
            known = names.@{fn}("feed%d.@{zone}@{dot}" % (units % 5))
            culprit += (now() - start) * @{wasted}
        units += 1
        busy += now() - start
        wait_until(began + units / @{rate})
    report(units, busy, culprit)


main()
