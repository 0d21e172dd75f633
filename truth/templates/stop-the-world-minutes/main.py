"""Keeps the minutes of meetings: takes notes, and says which earlier note of the meeting is most like a new one."""
import asyncio
import gc
import itertools

WORDS = "roof winter budget street light school tree bridge water fence vote chair report paint door".split()


class Note:
    def __init__(self, number, text):
        self.number, self.words, self.like = number, set(text), []


def earlier(count):
    return [Note(number, [WORDS[number * step % len(WORDS)] for step in (1, 3, 7)]) for number in range(count)]


class Minutes:
    def __init__(self):
        self.notes = earlier(@{notes})
        self.taken = itertools.count(1)

    def take(self, number, text):
        note = Note(number, text)
        recent = self.notes[-@{words}:]
        best = max(recent, key=lambda other: len(other.words & note.words))
        note.like.append(best)
        self.notes.append(note)
        if @{after} and next(self.taken) % @{after} == 0:
            self.@{fn}()
        return best.number

    def @{fn}(self):
        """Notes refer to each other: what nobody needs is given back."""
        self.notes[-1000].like.clear()
        return gc.collect()


async def tidy(minutes):
    while @{pause}:
        await asyncio.sleep(@{pause})
        minutes.@{fn}()


async def main():
    minutes = Minutes()

    async def serve(reader, writer):
        while line := await reader.readline():
            _, number, *text = line.decode().split()
            writer.write(b"noted, like %d\n" % minutes.take(int(number), text))
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", @{port}, backlog=64)
    tidying = asyncio.create_task(tidy(minutes))
    async with server:
        await server.serve_forever()
    tidying.cancel()


asyncio.run(main())
