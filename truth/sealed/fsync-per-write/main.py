"""Takes the lists that suppliers send and keeps the newest price of each article."""
import hashlib
import json
import sqlite3
import time


def supplier_list(number):
    text = "x" * @{bytes}
    return [(number * @{rows} + row, f"article {row % 977}", row * 7 % 10_000, text) for row in range(@{rows})]


def check_digit(article):
    digest = article.encode()
    for _ in range(@{rounds}):
        digest = hashlib.sha256(digest).digest()
    return digest[0] % 10


class Prices:
    def __init__(self, path):
        self.base = sqlite3.connect(path, isolation_level=None)
        self.base.execute("create table if not exists price (id integer primary key, article text, cents integer, digit integer, note text)")
        self.lost = 0.0

    def @{fn}(self, rows):
        began = time.monotonic()
        self.base.execute("begin")
        self.base.executemany("insert or replace into price values (?, ?, ?, ?, ?)", rows)
        self.base.execute("commit")
        self.lost += time.monotonic() - began


def main():
    prices = Prices("@{work}/@{db}")
    began, busy, units, lists = time.monotonic(), 0.0, 0, 0
    while time.monotonic() - began < @{seconds}:
        waiting = []
        for row in supplier_list(lists):
            start = time.monotonic()
            waiting.append((row[0], row[1], row[2], check_digit(row[1]), row[3]))
            if len(waiting) >= @{batch}:
                prices.@{fn}(waiting)
                waiting = []
            busy += time.monotonic() - start
            units += 1
            if time.monotonic() - began > @{seconds}:
                break
        lists += 1
        time.sleep(max(0.0, began + lists / @{ticks} - time.monotonic()))
    with open("@{report}", "w") as out:
        json.dump({"units": units, "seconds": busy, "culprit": prices.lost}, out)


main()
