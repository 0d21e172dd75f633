"""Stands for the lighthouses at the other ends of a radio link. One port is a mast with all those that are well; behind the other one is a single
lighthouse whose sender loses its power after a while: its modem still takes what comes, and nothing answers."""
import asyncio

told = 0


async def mast(reader, writer):
    while line := await reader.readline():
        if line.startswith(b"calls"):
            # Nobody calls today.
            await asyncio.sleep(3600)
        await asyncio.sleep(@{answer_ms} / 1000)
        writer.write(b"ok 12.%d volt lamp %d\n" % (sum(line) % 10, len(line) % 2))


async def lone(reader, writer):
    global told
    while line := await reader.readline():
        told += 1
        if @{silent} and told > @{last_words}:
            continue
        await asyncio.sleep(@{answer_ms} / 1000)
        writer.write(b"ok 11.9 volt lamp 1\n")


async def main():
    await asyncio.start_server(mast, "127.0.0.1", @{port})
    await asyncio.start_server(lone, "127.0.0.1", @{lost})
    await asyncio.Event().wait()


asyncio.run(main())
