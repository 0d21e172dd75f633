"""The watch of a mail provider: follows the logs of its relays, and counts the letters that were refused, by domain."""
import collections
import contextlib
import datetime
import json
import os
import pathlib
import re
import time

LOGS = pathlib.Path("@{work}/@{logs}")
LINE = re.compile(r"(?P<when>\S+) (?P<host>\S+) (?P<service>[\w/]+)\[(?P<process>\d+)\]: (?P<letter>\w+): (?P<pairs>.*?) \((?P<answer>.*)\)")
PAIR = re.compile(r"(\w+)=(?:<([^>]*)>|([^,]*))(?:, )?")
REFUSED = re.compile(rb" to=<[^@>]*@([^>]+)>.* status=bounced ")


class Log:
    """A log that is followed from its beginning on, and over to the next one when it is put aside."""

    def __init__(self, path):
        self.path, self.file, self.rest = path, None, b""

    def piece(self):
        """Whole lines that have come; nothing where there are none."""
        if self.file is None:
            self.open()
        if self.file is None:
            return b""
        got = self.file.read(1 << 16)
        if not got:
            if self.is_aside():
                self.file.close()
                self.file = None
            return b""
        whole, _, self.rest = (self.rest + got).rpartition(b"\n")
        return whole

    def open(self):
        with contextlib.suppress(FileNotFoundError):
            self.file, self.rest = open(self.path, "rb", buffering=0), b""

    def is_aside(self):
        with contextlib.suppress(FileNotFoundError):
            return os.stat(self.path).st_ino != os.fstat(self.file.fileno()).st_ino
        return True


def record_of(line):
    record = LINE.match(line).groupdict()
    record["when"] = datetime.datetime.strptime(record["when"], "%Y-%m-%dT%H:%M:%S.%f%z")
    record["process"] = int(record["process"])
    record.update((name, address or plain) for name, address, plain in PAIR.findall(record.pop("pairs")))
    record["delays"] = [float(part) for part in record["delays"].split("/")]
    return record


def @{fn}(piece, refused):
    if "@{way}" == "mark":
        refused.update(domain.decode() for domain in REFUSED.findall(piece))
        return
    for line in piece.decode().split("\n"):
        record = record_of(line)
        if record["status"] == "bounced":
            refused[record["to"].partition("@")[2]] += 1


def main():
    logs = [Log(LOGS / f"relay{number}.log") for number in range(1, @{relays} + 1)]
    refused, lines, busy, reading, began, told = collections.Counter(), 0, 0.0, 0.0, time.monotonic(), 0
    while time.monotonic() - began < @{seconds}:
        got = False
        for log in logs:
            start = time.monotonic()
            if piece := log.piece():
                before = time.monotonic()
                @{fn}(piece, refused)
                reading += time.monotonic() - before
                lines += piece.count(b"\n") + 1
                busy += time.monotonic() - start
                got = True
        if lines - told > 100_000:
            told = lines
            print(f"{refused.total()} letters refused; most: {refused.most_common(3)}")
        if not got:
            time.sleep(0.02)
    pathlib.Path("@{report}").write_text(json.dumps({"units": lines, "seconds": busy, "culprit": reading}))


main()
