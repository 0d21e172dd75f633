"""The ring office of the dog show. "call N": an entry is called in. "points N": the standing of a class."""
import asyncio
import concurrent.futures
import multiprocessing
import random
import time

DOGS = @{dogs}


def one_round(points, chance):
    """One way in which the judges' marks may fall, as points of each dog."""
    marks = sorted(((40 + dog / 7 + chance.random() * 13, dog) for dog in range(DOGS)), reverse=True)
    for place, (_, dog) in enumerate(marks[:5]):
        points[dog] += 5 - place


def @{fn}(number, rounds):
    points, chance = [0] * DOGS, random.Random(number)
    for _ in range(rounds):
        one_round(points, chance)
    best = max(range(DOGS), key=points.__getitem__)
    return f"{best} {points[best] / rounds:.3f}"


def rounds_in(milliseconds):
    began = time.perf_counter()
    @{fn}(1, 1500)
    return max(1, round(1500 * milliseconds / 1000 / (time.perf_counter() - began)))


class Office:
    def __init__(self, bench):
        self.bench = bench
        self.rounds = rounds_in(@{work})
        self.entries = {number: [number % 9, 0] for number in range(@{entries})}

    async def answer(self, verb, number):
        if verb == "points":
            if self.bench is None:
                return @{fn}(number, self.rounds)
            return await asyncio.get_running_loop().run_in_executor(self.bench, @{fn}, number, self.rounds)
        entry = self.entries.get(number)
        if entry is None:
            return "unknown"
        entry[1] += 1
        return f"ring {entry[0]} call {entry[1]}"

    async def serve(self, reader, writer):
        try:
            while line := await reader.readline():
                verb, number = line.decode().split()
                writer.write((await self.answer(verb, int(number))).encode() + b"\n")
                await writer.drain()
        except ConnectionError:
            pass
        writer.close()


async def main(bench):
    office = Office(bench)
    server = await asyncio.start_server(office.serve, "127.0.0.1", @{port})
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    helper = None
    if "@{place}" == "beside":
        helper = concurrent.futures.ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("fork"))
        helper.submit(@{fn}, 0, 1).result()
    asyncio.run(main(helper))
