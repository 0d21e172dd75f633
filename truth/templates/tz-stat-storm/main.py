"""Loads the readings of a day: records with the local time of the meter, into sums by the quarter of an hour."""
import json
import os
import queue
import struct
import threading
import time

if "@{zone}":
    os.environ["TZ"] = "@{zone}"
    time.tzset()

RECORD = struct.Struct("<HBBBBB")
took = {"units": 0, "seconds": 0.0, "culprit": 0.0}


def @{fn}(batch):
    kept, base, stamps = None, 0.0, []
    for year, month, day, hour, minute, second in RECORD.iter_unpack(batch):
        if kept != (key := (year, month, day, hour, minute, second)[:@{width}]):
            base = time.mktime((year, month, day, hour, minute, second, 0, 0, -1))
            kept = key
        stamps.append(base)
    return stamps


def @{fn2}(stamps):
    sums = {}
    for stamp in stamps[:: 1 + @{extra} // 200]:
        quarter = stamp // 900
        sums[quarter] = sums.get(quarter, 0) + 1
    return sums


def importer(batches):
    while (batch := batches.get()) is not None:
        start = time.monotonic()
        stamps = @{fn}(batch)
        took["culprit"] += time.monotonic() - start
        @{fn2}(stamps)
        took["units"] += 1
        took["seconds"] += time.monotonic() - start


def main():
    batches = queue.Queue(maxsize=1)
    worker = threading.Thread(target=importer, args=(batches,), name="importer")
    worker.start()
    batch = b""
    for i in range(@{rows}):
        seconds = i * @{step} % 86400
        batch += RECORD.pack(2024, 5, @{day}, seconds // 3600, seconds // 60 % 60, seconds % 60)
    began, sent = time.monotonic(), 0
    while time.monotonic() - began < @{seconds}:
        batches.put(batch)
        sent += 1
        time.sleep(max(0.0, began + sent / @{rate} - time.monotonic()))
    batches.put(None)
    worker.join()
    with open("@{report}", "w") as out:
        json.dump(took, out)


main()
