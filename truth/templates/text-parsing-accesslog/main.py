"""Tells how the shop does: from the access log, by the minute: how many answers failed, how slow they were, and what was asked for."""
import collections
import datetime
import hashlib
import json
import re
import socket
import time

SALT = b"of this week"
LINE = re.compile(
    r'(?P<host>\S+) (?P<ident>\S+) (?P<user>\S+) \[(?P<when>[^\]]+)\] "(?P<method>\S+) (?P<path>\S+) (?P<protocol>[^"]+)" '
    r'(?P<status>\d{3}) (?P<size>\d+|-) "(?P<referrer>[^"]*)" "(?P<agent>[^"]*)" (?P<took>[\d.]+)'
)


def @{fn}(lines):
    entries = []
    for line in lines:
        found = LINE.match(line)
        if found is None:
            continue
        entry = found.groupdict()
        when = datetime.datetime.strptime(entry["when"], "%d/%b/%Y:%H:%M:%S %z")
        entries.append((entry["host"], when.strftime("%H:%M"), int(entry["status"]), float(entry["took"])))
    return entries


def by_place(lines):
    entries = []
    for line in lines:
        bracket = line.index("[")
        status = line.index('" ', bracket) + 2
        entries.append((line[:line.index(" ")], line[bracket + 13:bracket + 18], int(line[status:status + 3]), float(line[line.rindex(" ") + 1:])))
    return entries


class Minutes:
    def __init__(self):
        self.counts, self.failed, self.slowest = collections.Counter(), collections.Counter(), {}
        self.visitors = collections.defaultdict(set)

    def add(self, entries):
        for host, minute, status, took in entries:
            # Nobody is to be found by an address: visitors are told apart by a number made of it.
            visitor = host.encode()
            for _ in range(@{rounds}):
                visitor = hashlib.sha256(SALT + visitor).digest()
            self.visitors[minute].add(visitor[:4])
            self.counts[minute] += 1
            if status >= 500:
                self.failed[minute] += 1
            if took > self.slowest.get(minute, 0):
                self.slowest[minute] = took


def main():
    minutes, parse = Minutes(), @{fn} if "@{way}" == "fields" else by_place
    units, busy, culprit, rest = 0, 0.0, 0.0, b""
    relay = socket.create_connection(("127.0.0.1", @{port}))
    relay.sendall(b"%d\n" % (@{lines} * 30))
    end = time.monotonic() + @{seconds}
    while time.monotonic() < end:
        received = relay.recv(65536)
        if not received:
            break
        start = time.monotonic()
        text, _, rest = (rest + received).rpartition(b"\n")
        lines = text.decode("latin-1").splitlines()
        parsing = time.monotonic()
        entries = parse(lines)
        culprit += time.monotonic() - parsing
        minutes.add(entries)
        units += len(entries)
        busy += time.monotonic() - start
    with open("@{report}", "w") as out:
        json.dump({"units": units, "seconds": busy, "culprit": culprit}, out)
    print(minutes.failed.most_common(3))


main()
