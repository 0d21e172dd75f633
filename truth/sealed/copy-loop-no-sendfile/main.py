import json
import os
import shutil
import socket
import time

TABLE = bytes((n * 7 + 3) % 256 for n in range(256))


def @{fn}(source, station):
    target = station.makefile("wb", buffering=0)
    shutil.copyfileobj(source, target, @{block})


def whole(source, station):
    station.sendfile(source)


def changed(source, station):
    while block := source.read(65536):
        station.sendall(block.translate(TABLE))


def main():
    courier = socket.create_connection(("127.0.0.1", @{port}))
    station = socket.create_connection(("127.0.0.1", @{sink}))
    ship = {"copied": @{fn}, "whole": whole, "changed": changed}["@{way}"]
    courier.sendall(b"%.3f %d\n" % (@{load} * 4400 / @{rows}, @{used}))
    units, busy, culprit = 0, 0.0, 0.0
    end = time.monotonic() + @{seconds}
    for line in courier.makefile():
        path = line.rstrip()
        start = time.monotonic()
        with open(path, "rb", buffering=0) as source:
            opened = time.monotonic()
            ship(source, station)
            culprit += time.monotonic() - opened
        busy += time.monotonic() - start
        os.unlink(path)
        units += 1
        if time.monotonic() >= end:
            break
    with open("@{report}", "w") as out:
        json.dump({"units": units, "seconds": busy, "culprit": culprit}, out)


main()
