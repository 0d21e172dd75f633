"""Checks tickets at a gate: the number's signature is compared with those of the day's tables."""
import hashlib
import json
import time

TABLES = {hashlib.sha256(str(number).encode()).digest()[:3] for number in range(@{tables})}


def @{fn}(ticket, until):
    """How many of the ticket's signatures are known: the rounds take @{check} milliseconds of a core."""
    known, signature = 0, str(ticket).encode()
    while time.thread_time() < until:
        for _ in range(400):
            signature = hashlib.sha256(signature).digest()
            known += signature[:3] in TABLES
    return known


def main():
    begin, busy, cpu, units, known = time.perf_counter(), 0.0, 0.0, 0, 0
    while time.perf_counter() - begin < @{seconds}:
        start, used = time.perf_counter(), time.thread_time()
        known += @{fn}(units, used + @{check} / 1000)
        units += 1
        busy += time.perf_counter() - start
        cpu += time.thread_time() - used
        time.sleep(max(0.0, begin + units / @{rate} - time.perf_counter()))
    with open("@{report}", "w") as report:
        json.dump({"units": units, "seconds": busy, "culprit": busy - cpu, "known": known}, report)


main()
