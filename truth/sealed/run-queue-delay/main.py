"""Renders tickets, one after the other as they are ordered."""
import json
import time

def report(units, seconds, culprit):
    with open("@{report}", "w") as out:
        json.dump({"units": units, "seconds": seconds, "culprit": culprit}, out)


def @{fn}(n):
    seats = [(n * 7919 + i * 31) % 1009 for i in range(100)]
    for _ in range(@{work_ms} * 860):
        seats = seats[1:] + [seats[0] ^ (n & 15)]
        if sum(seats) < 0:
            break
    return seats[0]


def main():
    units, busy, culprit, total = 0, 0.0, 0.0, 0
    began = time.monotonic()
    while time.monotonic() - began < @{seconds}:
        start, used = time.monotonic(), time.thread_time()
        total += @{fn}(units)
        units += 1
        took = time.monotonic() - start
        busy += took
        culprit += max(0.0, took - (time.thread_time() - used))
        time.sleep(max(0.0, began + units * @{work_ms} / 1000 / @{load} - time.monotonic()))
    report(units, busy, culprit)


main()
