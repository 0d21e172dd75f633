"""Customs for a parcel service: declarations go to a pool of processes, which work out the duty of each."""
import concurrent.futures
import hashlib
import json
import logging
import multiprocessing
import pathlib
import time

TARIFF = pathlib.Path("@{work}/@{folder}/@{tariff}")
COUNTRIES = ["China", "United States", "United Kingdom", "Switzerland", "Japan"]
LINE = 62
kept = None


class Tariff:
    """The customs tariff: lines of one length, in the order of their codes."""

    def __init__(self, text):
        self.text, self.count = text, len(text) // LINE

    def line(self, number):
        return self.text[number * LINE : (number + 1) * LINE]

    def find(self, code):
        key, low, high = b"%010d" % code, 0, self.count
        while low < high:
            middle = (low + high) // 2
            if self.line(middle)[:10] < key:
                low = middle + 1
            else:
                high = middle
        found = self.line(low).decode().rstrip().split(";")
        return float(found[2]), found[3], found[1].strip()


def @{fn}():
    return Tariff(TARIFF.read_bytes())


def declared(number):
    draws = [(number * 2654435761 + i * 40503 & 0xFFFFFFFF) >> 3 for i in range(@{items})]
    items = [{"code": (1 + draw % @{codes}) * 61, "cents": 200 + draw % 20000, "many": 1 + draw % 3} for draw in draws]
    return json.dumps({"number": number, "country": COUNTRIES[number % 5], "items": items})


def risk(declaration):
    mark = declaration.encode()
    for _ in range(@{rounds} * 6):
        mark = hashlib.blake2s(mark).digest()
    return mark[0] % 100


def clear(text):
    """What is to be paid for a parcel; and how long that took, and how much of it the tariff."""
    start = time.monotonic()
    tariff = kept or @{fn}()
    reading = time.monotonic() - start
    declaration, duty, lines = json.loads(text), 0.0, []
    for item in declaration["items"]:
        percent, unit, name = tariff.find(item["code"])
        one = item["cents"] * item["many"] * percent / 100
        lines.append(f"{item['many']} {unit} {name}: {one:.0f}")
        duty += one
    mark = risk(text)
    return declaration["number"], duty, mark, lines, time.monotonic() - start, reading


def hire():
    global kept
    if @{keep}:
        kept = @{fn}()


def main():
    logging.basicConfig(filename="@{work}/customs.log", level=logging.INFO)
    units, busy, reading = 0, 0.0, 0.0
    context = multiprocessing.get_context("fork")
    with concurrent.futures.ProcessPoolExecutor(@{clerks}, mp_context=context, initializer=hire) as clerks:
        for one in [clerks.submit(time.sleep, 0.02) for _ in range(@{clerks})]:
            one.result()
        began, number, open_ones = time.monotonic(), 0, set()
        while time.monotonic() - began < @{seconds}:
            number += 1
            open_ones.add(clerks.submit(clear, declared(number)))
            rest = began + number / @{rate} - time.monotonic()
            crowded = len(open_ones) > 4 * @{clerks}
            done, open_ones = concurrent.futures.wait(open_ones, None if crowded else max(0.0, rest), concurrent.futures.FIRST_COMPLETED)
            if not crowded and (rest := began + number / @{rate} - time.monotonic()) > 0:
                time.sleep(rest)
            for one in done:
                which, duty, mark, lines, took, looked = one.result()
                logging.info("%d: %.2f, risk %d (%s)", which, duty / 100, mark, "; ".join(lines))
                units, busy, reading = units + 1, busy + took, reading + looked
    with open("@{report}", "w") as out:
        json.dump({"units": units, "seconds": busy, "culprit": reading}, out)


if __name__ == "__main__":
    main()
