"""The watch of a fire brigade: hears what the panels of a district say, and counts alarms, faults and doors by zone."""
import collections
import datetime
import json
import pathlib
import re
import socket
import time

HEAD = re.compile(r"<(?P<priority>\d+)>(?P<when>\S+) (?P<host>\S+) (?P<program>\w+)\[(?P<process>\d+)\]: (?P<rest>.*)")
MARK = re.compile(rb" kind=(alarm|fault|door) zone=(\d+)")
PAIR = re.compile(r'(\w+)=(?:"([^"]*)"|(\S+))')
WATCHED = {"alarm", "fault", "door"}


def record_of(line):
    head = HEAD.match(line).groupdict()
    record = {"priority": int(head["priority"]), "process": int(head["process"]), "host": head["host"], "program": head["program"]}
    record["when"] = datetime.datetime.strptime(head["when"], "%Y-%m-%dT%H:%M:%S.%fZ")
    record.update((name, quoted or bare) for name, quoted, bare in PAIR.findall(head["rest"]))
    return record


def @{fn}(bundle, counts):
    if "@{way}" == "marks":
        for kind, zone in MARK.findall(bundle):
            counts[int(zone), kind.decode()] += 1
        return
    for line in bundle.decode().splitlines():
        record = record_of(line)
        if record["kind"] in WATCHED:
            counts[int(record["zone"]), record["kind"]] += 1


def main():
    door = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    door.bind("@{work}/@{sock}")
    door.settimeout(0.2)
    counts, bundles, busy, reading, begun = collections.Counter(), 0, 0.0, 0.0, time.monotonic()
    while time.monotonic() - begun < @{seconds}:
        try:
            bundle = door.recv(1 << 16)
        except TimeoutError:
            continue
        start = time.monotonic()
        @{fn}(bundle, counts)
        reading += time.monotonic() - start
        bundles += 1
        if bundles % 200 == 0:
            print(f"{len(counts)} kinds by zone; most: {counts.most_common(3)}")
        busy += time.monotonic() - start
    pathlib.Path("@{report}").write_text(json.dumps({"units": bundles, "seconds": busy, "culprit": reading}))


main()
