"""A map service: tells the minutes between stops of a tour, after a while."""
import asyncio


async def serve(reader, writer):
    while line := await reader.readline():
        await asyncio.sleep(@{delay} / 1000)
        number = int(line.split()[1])
        writer.write((" ".join(str(3 + (number * 31 + i * 17) % 40) for i in range(@{stops})) + "\n").encode())
        await writer.drain()
    writer.close()


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", @{maps})
    async with server:
        await server.serve_forever()


asyncio.run(main())
