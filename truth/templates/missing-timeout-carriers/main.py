"""Offers for the freight of a furniture shop: loads each order onto pallets, and asks the carriers what these cost."""
import asyncio
import collections
import json
import time

CARRIERS = {"swift": @{first}, "meridian": @{second}, "harbour": @{third}}
PALLET = (120, 80, 160)
LIMIT = @{limit} or None


class Line:
    """A line to a carrier; it has one question at a time."""

    def __init__(self, name, port):
        self.name, self.port, self.writer = name, port, None
        self.since = self.lost = 0.0

    async def exchange(self, text):
        if self.writer is None:
            self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        self.writer.write(text.encode())
        await self.writer.drain()
        return (await self.reader.readline()).decode()

    async def @{fn}(self, number, grams, zone):
        self.since = time.monotonic()
        try:
            answer = await asyncio.wait_for(self.exchange(f"QUOTE {number} {grams} {zone}\n"), LIMIT)
            _, cents, days = answer.split()
            return int(cents), int(days), self.name
        except (asyncio.TimeoutError, ValueError, OSError):
            self.lost += time.monotonic() - self.since
            if self.writer is not None:
                self.writer.close()
            self.writer = None
            return None
        finally:
            self.since = 0.0


class Desk:
    def __init__(self):
        self.lines = [Line(name, port) for name, port in CARRIERS.items()]
        self.start = 0.0

    async def work(self, orders, office):
        while True:
            number = await orders.get()
            self.start = time.monotonic()
            pallets = load(pieces_of(number))
            grams = sum(sum(piece[3] for piece in pallet) for pallet in pallets)
            offers = await asyncio.gather(*(line.@{fn}(number, grams, 1 + number % 5) for line in self.lines))
            office.note(number, len(pallets), min(offer for offer in offers if offer))
            office.busy += time.monotonic() - self.start
            office.units += 1
            self.start = 0.0


class Office:
    def __init__(self):
        self.units, self.busy = 0, 0.0
        self.journal = collections.deque(maxlen=500)
        self.surcharge = 0

    def note(self, number, pallets, offer):
        cents, days, name = offer
        self.journal.append(f"{number}: {pallets} pallets by {name}, {cents + self.surcharge} cents, {days} days")

    async def listen(self):
        reader, writer = await asyncio.open_connection("127.0.0.1", CARRIERS["harbour"])
        writer.write(b"NEWS\n")
        while line := await reader.readline():
            self.surcharge = int(line.split()[1])


def pieces_of(number):
    pieces = []
    for i in range(@{items}):
        draw = (number * 2654435761 + i * 40503) & 0xFFFFFFFF
        pieces.append((20 + draw % 90, 20 + draw // 7 % 55, 10 + draw // 11 % 60, 900 + draw % 14000))
    return pieces


def load(pieces):
    """The loading with the fewest pallets, of some orders that are tried."""
    best = None
    room = PALLET[0] * PALLET[1] * PALLET[2]
    for turn in range(25):
        pallets, free = [], []
        for piece in sorted(pieces, key=lambda piece: (piece[0] * (turn + 3) % 101, piece[3])):
            volume = piece[0] * piece[1] * piece[2]
            for i, left in enumerate(free):
                if left >= volume:
                    break
            else:
                i = len(free)
                free.append(room)
                pallets.append([])
            free[i] -= volume
            pallets[i].append(piece)
        if best is None or len(pallets) < len(best):
            best = pallets
    return best


async def main():
    orders, office = asyncio.Queue(), Office()
    desks = [Desk() for _ in range(@{packers})]
    tasks = [asyncio.create_task(desk.work(orders, office)) for desk in desks]
    if @{news}:
        tasks.append(asyncio.create_task(office.listen()))
    began, number = time.monotonic(), 0
    while time.monotonic() - began < @{seconds}:
        number += 1
        orders.put_nowait(number)
        await asyncio.sleep(max(0.0, began + number / @{rate} - time.monotonic()))
    now = time.monotonic()
    busy = office.busy + sum(now - desk.start for desk in desks if desk.start)
    culprit = sum(line.lost + (now - line.since if line.since else 0.0) for desk in desks for line in desk.lines)
    with open("@{report}", "w") as out:
        json.dump({"units": office.units, "seconds": busy, "culprit": culprit}, out)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


asyncio.run(main())
