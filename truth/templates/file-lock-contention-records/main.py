"""Reserves seats: the processes of the box offices share one SQLite file."""
import fcntl
import hashlib
import json
import os
import random
import signal
import sqlite3
import time

PATH = "@{work}/@{book}"


def connect():
    base = sqlite3.connect(PATH, timeout=60, isolation_level=None)
    base.execute("PRAGMA journal_mode = MEMORY")
    base.execute("PRAGMA synchronous = OFF")
    return base


def price(seat):
    """The price of the day, and whether the buyer's card is good for it."""
    end, mark = time.monotonic() + @{effort} / 1000, str(seat).encode()
    while time.monotonic() < end:
        mark = hashlib.sha256(mark).digest()
    time.sleep(@{keep} / 1000)
    return mark[0]


def @{fn}(base, seat, office):
    cents = 0 if @{inside} else price(seat)
    start = time.monotonic()
    base.execute("BEGIN IMMEDIATE")
    waited = time.monotonic() - start
    sold, = base.execute("SELECT sold FROM seats WHERE number = ?", (seat,)).fetchone()
    if @{inside}:
        cents = price(seat)
    base.execute("UPDATE seats SET sold = ?, cents = ?, office = ? WHERE number = ?", (sold + 1, cents, office, seat))
    base.execute("COMMIT")
    return waited


def sell(office, began):
    base, chance = connect(), random.Random(office)
    units, busy, waited = 0, 0.0, 0.0
    while time.monotonic() - began < @{seconds}:
        start = time.monotonic()
        waited += @{fn}(base, chance.randrange(@{accounts}), office)
        units += 1
        busy += time.monotonic() - start
        time.sleep(max(0.0, began + units / @{pace} + office * 0.03 - time.monotonic()))
    return units, busy, waited


def lead():
    with open("leader.lck", "r+") as file:
        fcntl.lockf(file, fcntl.LOCK_EX)
        while True:
            signal.pause()


def child(work):
    """Forks; what `work` returns can be read."""
    end, other = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(end)
        os.write(other, json.dumps(work()).encode())
        os._exit(0)
    os.close(other)
    return pid, end


def main():
    base = connect()
    base.execute("CREATE TABLE seats (number INTEGER PRIMARY KEY, sold INTEGER, cents INTEGER, office INTEGER)")
    base.execute("BEGIN")
    base.executemany("INSERT INTO seats VALUES (?, 0, 0, 0)", [(number,) for number in range(@{accounts})])
    base.execute("COMMIT")
    base.close()
    leaders = [child(lead) for _ in range(2 * @{standby})]
    began = time.monotonic()
    offices = [child(lambda office=office: sell(office, began)) for office in range(@{desks})]
    sums = []
    for pid, end in offices:
        sums.append(json.loads(os.read(end, 4096)))
        os.waitpid(pid, 0)
    for pid, _ in leaders:
        os.kill(pid, signal.SIGTERM)
    with open("@{report}", "w") as out:
        json.dump(dict(zip(("units", "seconds", "culprit"), map(sum, zip(*sums)))), out)


main()
