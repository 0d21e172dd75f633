"""Compiles blocklists: takes the lists that a publisher sends, refuses what is no host, and keeps what no wider entry covers."""
import json
import re
import socket
import time

if "@{host}" == "exact":
    HOST = re.compile(r"^([a-z0-9]+(-[a-z0-9]+)*\.)+[a-z]{2,}$")
else:
    HOST = re.compile(r"^(([a-z0-9]+-?)+\.)+[a-z]{2,}$")


class Lists:
    def __init__(self, port):
        self.file = socket.create_connection(("127.0.0.1", port)).makefile(encoding="ascii")

    def __iter__(self):
        while head := self.file.readline():
            yield [self.file.readline().strip() for _ in range(int(head.split()[1]))]


def @{fn}(names):
    return [name for name in names if HOST.match(name)]


class Blocklist:
    def __init__(self):
        self.hosts = set()

    def covers(self, labels):
        return any(".".join(labels[at:]) in self.hosts for at in range(1, len(labels)))

    def add(self, names):
        for name in sorted(names, key=len):
            if not self.covers(name.split(".")):
                self.hosts.add(name)

    def write(self, path):
        with open(path, "w") as out:
            for name in sorted(self.hosts, key=lambda name: name.split(".")[::-1])[:2000]:
                out.write(f"0.0.0.0 {name}\n")


def main():
    units, busy, checking, refused = 0, 0.0, 0.0, 0
    blocklist = Blocklist()
    began = time.monotonic()
    for names in Lists(@{feed}):
        start = time.monotonic()
        good = @{fn}(names)
        checking += time.monotonic() - start
        refused += len(names) - len(good)
        blocklist.add(good)
        blocklist.write("@{work}/hosts.block")
        units += 1
        busy += time.monotonic() - start
        if time.monotonic() - began >= @{seconds}:
            break
    with open("@{report}", "w") as out:
        json.dump({"units": units, "seconds": busy, "culprit": checking}, out)
    print(len(blocklist.hosts), "hosts,", refused, "refused")


main()
