"""Sells tickets to kiosks. The sales go to standard output, which is the pipe to the archive."""
import asyncio
import itertools
import json
import os
import sys

LAYOUT = ("= valid today on all lines " * 160)[:@{bytes}]
numbers = itertools.count(1)


def @{fn}(number, zone, cents):
    sys.stdout.write(json.dumps({"sold": number, "zone": zone, "cents": cents, "receipt": LAYOUT}) + "\n")
    sys.stdout.flush()


def price(zone):
    cents = 170
    for letter in zone.encode():
        cents = (cents * 31 + letter) % 2000
    return cents + 100


async def kiosk(reader, writer):
    while line := await reader.readline():
        _, zone, _ = line.decode().split()
        number, cents = next(numbers), price(zone)
        if number % @{every} == 0:
            @{fn}(number, zone, cents)
        writer.write(b"ticket %d %d\n" % (number, cents))
        await writer.drain()
    writer.close()


async def main():
    os.dup2(os.open("@{work}/@{pipe}", os.O_WRONLY), sys.stdout.fileno())
    server = await asyncio.start_server(kiosk, "127.0.0.1", @{port}, backlog=64)
    async with server:
        await server.serve_forever()


asyncio.run(main())
