"""Moves stock between two warehouses; whoever moves something counts both first."""
import json
import threading
import time


class Warehouse:
    def __init__(self, name):
        self.name, self.stock, self.lock = name, 1000, threading.Lock()


north, south = Warehouse("north"), Warehouse("south")
moved = []


def count(warehouse):
    time.sleep(@{nap} / 1000)
    began = time.monotonic()
    while time.monotonic() - began < @{inside} / 1000:
        sum(range(100))
    return warehouse.stock


def @{fn}(source, target):
    first, second = (source, target) if not @{order} else sorted((source, target), key=lambda w: w.name)
    with first.lock:
        count(first)
        with second.lock:
            source.stock -= 1
            target.stock += 1
            moved.append(source.name)


def clerk(source, target, began):
    while time.monotonic() - began < @{seconds}:
        @{fn}(source, target)
        time.sleep(@{gap} * 3 / 1000)


def main():
    began = time.monotonic()
    for name, pair in (("southbound", (north, south)), ("northbound", (south, north))):
        threading.Thread(target=clerk, args=(*pair, began), name=name, daemon=True).start()
    time.sleep(@{seconds})
    with open("@{report}", "w") as out:
        json.dump({"units": len(moved), "seconds": time.monotonic() - began}, out)


main()
