"""Reads the tolls of ferries, a batch at a time, and charges the processor time of each to the line that it came from."""
import json
import time

CROSSINGS, LINES, TOGETHER = @{crossings}, @{bridges}, @{together}
charged = [0] * LINES


def @{fn}():
    return time.clock_gettime_ns(time.CLOCK_PROCESS_CPUTIME_ID)


def toll(number):
    return 250 + number % 7 * 120


def batch(number):
    total = 0
    for first in range(0, CROSSINGS, TOGETHER):
        before = @{fn}()
        for crossing in range(first, min(first + TOGETHER, CROSSINGS)):
            total += toll(crossing)
        charged[(number + first) % LINES] += @{fn}() - before
    return total


def main():
    batches, busy, cents, began = 0, 0.0, 0, time.perf_counter()
    while time.perf_counter() - began < @{seconds}:
        start = time.perf_counter()
        cents += batch(batches)
        batches += 1
        busy += time.perf_counter() - start
        time.sleep(max(0.0, start + 1 / @{per_s} - time.perf_counter()))
    with open("@{report}", "w") as report:
        json.dump({"units": batches, "seconds": busy, "cents": cents, "charged": sum(charged) // 1000}, report)


main()
