"""Finds customers who were entered twice: each block of addresses is compared pair by pair. A crew takes the blocks from a queue."""
import collections
import json
import logging
import os
import queue
import random
import threading
import time

SECONDS, WORKERS, PAIRS, PACE = @{seconds}, @{workers}, @{pairs}, @{pace}
log = logging.getLogger("doubles")
Address = collections.namedtuple("Address", "number name street town")
FIRST = ["Anna", "Jonas", "Mila", "Emil", "Klara", "Oskar", "Lea", "Paul"]
LAST = ["Brandt", "Sommer", "Lindqvist", "Okafor", "Petersen", "Yilmaz", "Novak", "Ferrari"]
TOWN = ["Lindau", "Rostock", "Fulda", "Aalen", "Emden"]


def block(number):
    """Addresses of one postcode; with slips of the pen."""
    chance = random.Random(number)
    found = []
    for i in range(PAIRS * 2):
        name = f"{chance.choice(FIRST)} {chance.choice(LAST)}"
        cut = chance.randrange(len(name))
        found.append(Address(i, name[:cut] + name[cut + (i & 1):], f"Street {chance.randrange(@{streets})}", chance.choice(TOWN)))
    return found


def @{fn}(one, two):
    """How many strokes lie between two texts."""
    before = list(range(len(two) + 1))
    for i, a in enumerate(one, 1):
        row = [i]
        for j, b in enumerate(two, 1):
            row.append(min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b)))
        before = row
    return before[-1]


def doubles(addresses):
    found = []
    for i, one in enumerate(addresses):
        for two in addresses[i + 1:]:
            strokes = @{fn}(f"{one.name}, {one.street}", f"{two.name}, {two.street}")
            if strokes <= 3 and one.town == two.town:
                found.append((one.number, two.number, strokes))
    return found


class Tally:
    def __init__(self):
        self.blocks, self.busy, self.own, self.found = 0, 0.0, 0.0, 0


def work(number, blocks, tally, began):
    while time.monotonic() - began < SECONDS:
        due = began + tally.blocks / PACE + number / PACE / WORKERS
        time.sleep(max(0.0, min(due, began + SECONDS) - time.monotonic()))
        addresses = block(blocks())
        start, cpu = time.monotonic(), time.thread_time()
        found = doubles(addresses)
        tally.found += len(found)
        tally.blocks += 1
        tally.busy += time.monotonic() - start
        tally.own += time.thread_time() - cpu
        log.debug("block of %d: %d doubles", len(addresses), len(found))


def crew_of_threads(began):
    waiting = queue.SimpleQueue()
    for number in range(100_000):
        waiting.put(number)
    tallies = [Tally() for _ in range(WORKERS)]
    crew = [threading.Thread(target=work, name=f"compare-{n}", args=(n, waiting.get, tally, began)) for n, tally in enumerate(tallies)]
    for one in crew:
        one.start()
    for one in crew:
        one.join()
    return [vars(tally) for tally in tallies]


def crew_of_processes(began):
    ends = []
    for number in range(WORKERS):
        end, mine = os.pipe()
        if not os.fork():
            tally, numbers = Tally(), iter(range(number, 100_000, WORKERS))
            work(number, lambda: next(numbers), tally, began)
            os.write(mine, json.dumps(vars(tally)).encode())
            os._exit(0)
        os.close(mine)
        ends.append(os.fdopen(end))
    tallies = [json.load(end) for end in ends]
    for _ in ends:
        os.wait()
    return tallies


def main():
    began = time.monotonic()
    tallies = crew_of_threads(began) if "@{crew}" == "threads" else crew_of_processes(began)
    busy, own = (sum(tally[what] for tally in tallies) for what in ("busy", "own"))
    log.info("%d doubles", sum(tally["found"] for tally in tallies))
    with open("@{report}", "w") as out:
        json.dump({"units": sum(tally["blocks"] for tally in tallies), "seconds": busy, "culprit": busy - own}, out)


main()
