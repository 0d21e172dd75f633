"""The control centre of the snow ploughs. GET /next tells a driver the next street of the round; the police say by datagrams which streets are shut or open."""
import asyncio
import concurrent.futures
import json
import math
import multiprocessing
import random
import re
import time

STREETS = @{streets}
HERE = "@{place}" == "here"
CHANCE = random.Random(5)
PLACES = [(CHANCE.uniform(0, 9000), CHANCE.uniform(0, 6000)) for _ in range(STREETS)]


def between(start, end):
    return math.dist(PLACES[start], PLACES[end])


def @{fn}(found):
    """Turns parts of the round about, as long as there is time, and keeps what makes it shorter."""
    way, size = list(found), len(found)
    stop = time.monotonic() + @{effort} / 1000
    while time.monotonic() < stop:
        for _ in range(30):
            i = int(CHANCE.random() * (size - 2))
            j = i + 1 + int(CHANCE.random() * (size - i - 2))
            a, b, c, d = way[i], way[i + 1], way[j], way[j + 1]
            if between(a, b) + between(c, d) > between(a, c) + between(b, d) + 1e-6:
                way[i + 1:j + 1] = way[i + 1:j + 1][::-1]
    return way


class Centre:
    def __init__(self):
        self.shut, self.way, self.at = set(), list(range(STREETS)), 0
        self.aside = None if HERE else concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context("fork"))

    def open_streets(self):
        known = set(self.way)
        return [s for s in self.way if s not in self.shut] + [s for s in range(STREETS) if s not in self.shut and s not in known]

    async def note(self, word, street):
        (self.shut.add if word == b"shut" else self.shut.discard)(int(street))
        self.way = self.open_streets()
        if HERE:
            self.way = @{fn}(self.way)
        else:
            self.way = await asyncio.get_running_loop().run_in_executor(self.aside, @{fn}, self.way)
            self.way = self.open_streets()

    def answer(self, head):
        self.at = (self.at + 1) % len(self.way)
        plough = re.search(rb"plough=(\d+)", head)
        body = json.dumps({"plough": int(plough[1]) if plough else None, "street": self.way[self.at], "left": len(self.way) - self.at}).encode()
        return b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)

    async def driver(self, reader, writer):
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                writer.write(self.answer(head))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()


class Notes(asyncio.DatagramProtocol):
    def __init__(self, centre):
        self.centre, self.tasks = centre, set()

    def datagram_received(self, data, _):
        task = asyncio.ensure_future(self.centre.note(*data.split()))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)


async def main():
    centre = Centre()
    await asyncio.get_running_loop().create_datagram_endpoint(lambda: Notes(centre), ("127.0.0.1", @{notes}))
    server = await asyncio.start_server(centre.driver, "127.0.0.1", @{port})
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
