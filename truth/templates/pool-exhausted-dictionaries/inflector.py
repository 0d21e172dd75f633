import asyncio
import random

ENDINGS = ["e", "en", "er", "est", "te", "ung", "lich"]


async def serve(reader, writer):
    while line := await reader.readline():
        stem = line.decode().strip()
        await asyncio.sleep(@{delay} / 1000 * random.uniform(0.8, 1.2))
        writer.write((" ".join(stem + ending for ending in ENDINGS) + "\n").encode())
    writer.close()


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", @{forms}, backlog=128)
    await server.serve_forever()


asyncio.run(main())
