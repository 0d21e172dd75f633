"""Gateway of a chain of pharmacies: the counters ask by lines, the insurers' centre verifies."""
import asyncio
import itertools
import struct

HEAD = struct.Struct(">II")


class Centre:
    """The line to the insurers' centre, on which many questions may be open."""

    def __init__(self, reader, writer):
        self.reader, self.writer = reader, writer
        self.numbers, self.open = itertools.count(1), {}
        self.reading = asyncio.create_task(self.read())

    @classmethod
    async def connect(cls, port):
        return cls(*await asyncio.open_connection("127.0.0.1", port))

    async def read(self):
        while True:
            length, number = HEAD.unpack(await self.reader.readexactly(HEAD.size))
            text = await self.reader.readexactly(length)
            asked = self.open.pop(number, None)
            if asked is not None and not asked.done():
                asked.set_result(text.decode())

    def @{fn}(self, number, frame, patience):
        """Once more, if there is no answer yet."""
        if number in self.open:
            self.writer.write(frame)
            patience *= @{growth}
            asyncio.get_running_loop().call_later(patience, self.@{fn}, number, frame, patience)

    async def ask(self, text):
        number, loop = next(self.numbers), asyncio.get_running_loop()
        frame = HEAD.pack(len(text), number) + text
        answer = self.open[number] = loop.create_future()
        patience = @{patience} / 1000
        self.writer.write(frame)
        reminder = loop.call_later(patience, self.@{fn}, number, frame, patience)
        try:
            return await answer
        finally:
            reminder.cancel()


def prescription(number):
    rows = [f"insured {number * 7919 % 999999937:09}"]
    rows += [f"{line} PZN-{number * line * 104729 % 99999989:08} {1 + number * line % 3}" for line in range(1, @{lines} + 1)]
    return "\n".join(rows).encode()


async def pulse(centre):
    while True:
        await asyncio.sleep(@{pulse} / 1000)
        if not await centre.ask(b"pulse"):
            print("the centre says nothing")


async def main():
    centre = await Centre.connect(@{centre})

    async def serve(reader, writer):
        try:
            while line := await reader.readline():
                number = int(line.split()[1])
                writer.write(f"{number} {await centre.ask(prescription(number))}\n".encode())
                await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()

    beating = asyncio.create_task(pulse(centre)) if @{pulse} > 0 else None
    server = await asyncio.start_server(serve, "127.0.0.1", @{port}, backlog=64)
    async with server:
        await asyncio.wait([task for task in (centre.reading, beating) if task], return_when=asyncio.FIRST_COMPLETED)


asyncio.run(main())
