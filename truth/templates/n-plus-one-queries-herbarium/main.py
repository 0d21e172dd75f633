"""Sets the labels of a herbarium: a pool of processes, each with its own line to the cabinet, makes sheet after sheet."""
import json
import multiprocessing
import pathlib
import socket
import textwrap
import time
import urllib.parse

WORK = pathlib.Path("@{work}")
SHEETS = WORK / "sheets"


class Cabinet:
    def __init__(self):
        line = socket.socket(socket.AF_UNIX)
        line.settimeout(10)
        line.connect(str(WORK / "@{sock}"))
        self.stream = line.makefile("rwb")
        self.waited = 0.0

    def get(self, *keys):
        began = time.monotonic()
        self.stream.write(f"get {' '.join(keys)}\r\n".encode())
        self.stream.flush()
        found = {}
        while (head := self.stream.readline().split()) and head[0] == b"VALUE":
            text = self.stream.read(int(head[3]) + 2)[:-2]
            found[head[1].decode()] = dict(urllib.parse.parse_qsl(text.decode()))
        self.waited += time.monotonic() - began
        return found


def @{fn}(cabinet, keys):
    if "@{fetch}" == "sheet":
        return cabinet.get(*keys)
    specimens = {}
    for key in keys:
        specimens.update(cabinet.get(key))
    return specimens


def label(key, specimen):
    """A label of 30 columns, framed."""
    north, east = (float(part) for part in specimen["place"].split(","))
    text = f"{specimen['name']}. {north:.3f} N {east:.3f} E, {specimen['height']} m. Coll. {specimen['collector']}, {specimen['year']}. ({key})"
    lines = textwrap.wrap(text, 30)
    return "\n".join(["+" + "-" * 32 + "+", *(f"| {line:30} |" for line in lines), "+" + "-" * 32 + "+"])


def worker(number, begun, results):
    cabinet, units, busy = Cabinet(), 0, 0.0
    while time.monotonic() - begun < @{seconds}:
        began = time.monotonic()
        keys = [f"@{prefix}:{(units * 131 + number * 17 + i * 7) % @{kinds}}" for i in range(@{size})]
        specimens = @{fn}(cabinet, keys)
        (SHEETS / f"{number}-{units % 50}.txt").write_text("\n".join(label(key, specimens[key]) for key in keys))
        units += 1
        busy += time.monotonic() - began
        time.sleep(max(0.0, begun + units / @{pace} - time.monotonic()))
    results.put((units, busy, cabinet.waited))


def main():
    SHEETS.mkdir(exist_ok=True)
    results = multiprocessing.Queue()
    begun = time.monotonic()
    workers = [multiprocessing.Process(target=worker, args=(number, begun, results)) for number in range(@{workers})]
    for one in workers:
        one.start()
    units, busy, waited = (sum(column) for column in zip(*(results.get() for _ in workers)))
    for one in workers:
        one.join()
    pathlib.Path("@{report}").write_text(json.dumps({"units": units, "seconds": busy, "culprit": waited}))


if __name__ == "__main__":
    main()
