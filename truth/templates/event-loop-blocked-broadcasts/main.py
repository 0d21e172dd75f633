"""Play-out of a radio station: takes the studio's programmes, keeps them in the archive, and tells receivers what is on air."""
import asyncio
import hashlib
import pathlib
import sys
import zlib

SHELF = pathlib.Path("@{work}/@{archive}")


class Programme:
    def __init__(self, number, title, sound):
        self.number, self.title, self.sound = number, title, sound

    def @{fn}(self):
        packer = zlib.compressobj(level=7, wbits=31)
        SHELF.joinpath(f"{self.number % 4}.gz").write_bytes(packer.compress(self.sound) + packer.flush())
        return self.title


class Playout:
    def __init__(self):
        self.title, self.kept, self.packing = "Test Tone", 0, set()

    async def finished(self, programme):
        self.title = programme.title
        if "@{place}" == "here":
            programme.@{fn}()
            self.kept += 1
        else:
            task = asyncio.get_running_loop().run_in_executor(None, programme.@{fn})
            self.packing.add(task)
            task.add_done_callback(self.packed)

    def packed(self, task):
        self.packing.discard(task)
        if task.exception():
            print(task.exception(), file=sys.stderr)
        self.kept += 1

    async def studio(self, reader, writer):
        try:
            while True:
                _, number, size, title = (await reader.readline()).decode().rstrip("\n").split(" ", 3)
                await self.finished(Programme(int(number), title, await reader.readexactly(int(size))))
        except (ValueError, asyncio.IncompleteReadError):
            writer.close()

    async def receiver(self, reader, writer):
        while line := await reader.readline():
            number = int(line.split()[1])
            ticket = f"{self.title} {number}"
            for _ in range(150):
                ticket = hashlib.sha1(ticket.encode()).hexdigest()
            writer.write(f"{number} {ticket[:12]} {self.kept} {self.title}\n".encode())
            await writer.drain()
        writer.close()

    async def run(self):
        studio = await asyncio.start_unix_server(self.studio, "@{work}/@{sock}", limit=1 << 18)
        receivers = await asyncio.start_server(self.receiver, "127.0.0.1", @{port})
        await asyncio.gather(studio.serve_forever(), receivers.serve_forever())


asyncio.run(Playout().run())
