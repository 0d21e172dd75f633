"""A translation memory. "exact N" is answered by the translation of segment N, "near N" by the segments that are most like text N."""
import asyncio
import concurrent.futures
import hashlib
import heapq
import random

WORDS = "please remove cover before cleaning never open valve while pump running check pressure gauge close main switch turn handle slowly".split()
SEGMENTS = []


def segment(number):
    chance = random.Random(number)
    return chance.choices(WORDS, k=6 + number % 4)


def fill():
    SEGMENTS.extend(segment(number) for number in range(@{segments}))


def distance(one, other):
    """How many words differ."""
    above = list(range(len(other) + 1))
    for i, word in enumerate(one, 1):
        row = [i]
        for j, known in enumerate(other, 1):
            row.append(min(above[j - 1] + (word != known), above[j] + 1, row[-1] + 1))
        above = row
    return above[-1]


def @{fn}(text):
    best = heapq.nsmallest(3, ((distance(text, known), number) for number, known in enumerate(SEGMENTS)))
    return " ".join(f"{number}:{far}" for far, number in best)


def exact(number):
    text = " ".join(SEGMENTS[number % len(SEGMENTS)])
    return f"{hashlib.md5(text.encode()).hexdigest()} {text.upper()}"


class Service:
    def __init__(self):
        fill()
        self.searchers = concurrent.futures.ProcessPoolExecutor(1) if "@{place}" == "aside" else None

    async def near(self, text):
        if self.searchers is None:
            return @{fn}(text)
        return await asyncio.get_running_loop().run_in_executor(self.searchers, @{fn}, text)

    async def serve(self, reader, writer):
        try:
            while line := await reader.readline():
                verb, number = line.decode().split()
                answer = await self.near([*segment(int(number) * 7), "again"]) if verb == "near" else exact(int(number))
                writer.write(f"{answer}\n".encode())
                await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()


async def main():
    server = await asyncio.start_server(Service().serve, "127.0.0.1", @{port})
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
