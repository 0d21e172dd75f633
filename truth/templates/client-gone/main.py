import asyncio
import random

# Answers leave when their settlement is through: after about so many seconds.
SETTLEMENT = @{hold} / 1000


async def @{fn}(writer, number):
    await asyncio.sleep(SETTLEMENT * random.uniform(0.9, 1.2))
    body = (f"entry {number}\n" * (1 + @{bytes} // 12)).encode()[:@{bytes}]
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body))
    for start in range(0, len(body), 16384):
        writer.write(body[start:start + 16384])
        await writer.drain()


async def visitor(reader, writer):
    try:
        while ask := await reader.readline():
            while (await reader.readline()).strip():
                pass
            await @{fn}(writer, int(ask.split()[1].rsplit(b"/", 1)[1]))
    except OSError:
        pass
    writer.close()


async def main():
    server = await asyncio.start_server(visitor, "127.0.0.1", @{port})
    async with server:
        await server.serve_forever()


asyncio.run(main())
