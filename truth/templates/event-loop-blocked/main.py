"""Tells which articles are in stock; a forecast goes with it."""
import asyncio
import concurrent.futures
import re
import time

STOCK = [f"article {number} x{number * 37 % 101}" for number in range(400)]


def @{fn}():
    end, total = time.monotonic() + @{work} / 1000, 0
    while time.monotonic() < end:
        for line in STOCK:
            found = re.match(r"article (\d+) x(\d+)", line)
            total += int(found[2]) * len(found[1])
    return total


class Shop:
    def __init__(self, pool):
        self.pool, self.forecast, self.at, self.task = pool, 0, 0.0, None

    async def in_pool(self):
        self.forecast = await asyncio.get_running_loop().run_in_executor(self.pool, @{fn})
        self.at, self.task = time.monotonic(), None

    async def answer(self, number):
        if time.monotonic() - self.at > @{age} / 1000:
            if self.pool:
                self.task = self.task or asyncio.create_task(self.in_pool())
            else:
                self.forecast = @{fn}()
                self.at = time.monotonic()
        return f"{STOCK[number % len(STOCK)]} {self.forecast}\n"

    async def visit(self, reader, writer):
        while line := await reader.readline():
            writer.write((await self.answer(int(line.split()[-1]))).encode())
            await writer.drain()
        writer.close()


async def main():
    pool = None if @{own} else concurrent.futures.ProcessPoolExecutor(1)
    if pool:
        pool.submit(int).result()
    server = await asyncio.start_server(Shop(pool).visit, "127.0.0.1", @{port})
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
