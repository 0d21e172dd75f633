"""Renders labels, with a sampling profiler built in."""
import collections
import json
import signal
import time
import traceback

def report(units, seconds, culprit):
    with open("@{report}", "w") as out:
        json.dump({"units": units, "seconds": seconds, "culprit": culprit}, out)

GAP = @{gap_us} * 1e-6 * 3
stacks = collections.Counter()
due = float("inf")


def @{fn}(number, frame):
    global due
    names = []
    for one, line in traceback.walk_stack(frame):
        names.append(f"{one.f_code.co_filename}:{one.f_code.co_name}:{line}")
    stacks["|".join(reversed(names[:@{depth}]))] += 1
    # Where it comes late the next one has more time, so that the work goes on.
    late = max(0.0, min(0.005, time.monotonic() - due))
    gap = GAP + (2 * late if late > 200e-6 else 0.0)
    due = time.monotonic() + gap
    signal.setitimer(signal.ITIMER_REAL, gap)


def @{fn2}(n, depth):
    if depth:
        return @{fn2}(n, depth - 1)
    return sum(ord(letter) * (n % 7) for letter in f"label {n} for parcel {n * 7919}")


def sheet(first):
    return sum(@{fn2}(first + label, @{depth}) for label in range(@{rows} // 100))


def main():
    alone = 1.0
    for n in range(8):
        start = time.monotonic()
        sheet(n)
        alone = min(alone, time.monotonic() - start)
    signal.signal(signal.SIGALRM, @{fn})
    signal.setitimer(signal.ITIMER_REAL, GAP)
    units, busy, total = 0, 0.0, 0
    began = time.monotonic()
    while time.monotonic() - began < @{seconds}:
        start = time.monotonic()
        total += sheet(units)
        units += 1
        busy += time.monotonic() - start
        time.sleep(max(0.0, began + units / @{rate} - time.monotonic()))
    signal.setitimer(signal.ITIMER_REAL, 0)
    report(units, busy, max(0.0, busy - units * alone))


main()
