import json
import os
import queue
import random
import socket
import struct
import threading
import time

RECORD = @{row}
HEAD = struct.Struct("<HH")
paths = queue.Queue(maxsize=8)
spent = {"units": 0, "seconds": 0.0, "culprit": 0.0}
stop = threading.Event()


def @{fn}(source):
    """The records of one delivery that are of this store."""
    records = []
    while len(record := source.read(RECORD)) == RECORD:
        if record[0] < 24:
            records.append(record)
    return records


def @{fn2}(source, chance):
    return [os.pread(source.fileno(), RECORD, chance.randrange(@{rows}) * RECORD) for _ in range(@{lookups})]


def importer():
    stock, chance = {}, random.Random(1)
    while not stop.is_set():
        path = paths.get()
        if path is None:
            return
        start = time.monotonic()
        with open(path, "rb", buffering=@{buffer}) as source:
            records = @{fn2}(source, chance) if @{lookups} else @{fn}(source)
        spent["culprit"] += time.monotonic() - start
        for record in records:
            item, count = HEAD.unpack_from(record)
            stock[item] = stock.get(item, 0) + count
        os.unlink(path)
        spent["units"] += 1
        spent["seconds"] += time.monotonic() - start


def main():
    courier = socket.create_connection(("127.0.0.1", @{port}))
    courier.sendall(b"%.3f %d\n" % (@{load} * 350000 / @{rows}, @{rows}))
    worker = threading.Thread(target=importer)
    worker.start()
    end = time.monotonic() + @{seconds}
    for line in courier.makefile():
        paths.put(line.rstrip())
        if time.monotonic() >= end:
            break
    stop.set()
    paths.put(None)
    worker.join()
    with open("@{report}", "w") as out:
        json.dump(spent, out)


main()
