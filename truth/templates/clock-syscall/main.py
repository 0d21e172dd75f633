"""Reads quotes, and keeps account of what each of its stages costs."""
import collections
import json
import time

def report(units, seconds, culprit):
    with open("@{report}", "w") as out:
        json.dump({"units": units, "seconds": seconds, "culprit": culprit}, out)

cost = collections.defaultdict(float)
culprit = 0.0


def @{fn}(stage, since):
    used = time.thread_time()
    cost[stage] += used - since
    return used


def handle(rows, first):
    global culprit
    prices = {}
    every, stamps, last = @{every}, @{stamps}, 0.0
    for row in range(rows):
        line = f"{(first + row) % 500};{row * 7 % 1000}"
        name, _, price = line.partition(";")
        if every and row % every == 0:
            # Every 16th is measured, and stands for the others.
            start = 0.0 if every == 1 and row % 16 else time.monotonic()
            for stage in range(stamps):
                last = @{fn}(stage, last)
            if start:
                culprit += (time.monotonic() - start) * (16 if every == 1 else 1)
        prices[name] = int(price)
    return prices


def main():
    units, busy = 0, 0.0
    began = time.monotonic()
    while time.monotonic() - began < @{seconds}:
        start = time.monotonic()
        handle(@{rows} // 4, units)
        units += 1
        busy += time.monotonic() - start
        time.sleep(max(0.0, began + units / @{rate} - time.monotonic()))
    report(units, busy, culprit)


main()
