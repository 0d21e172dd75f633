"""Preflight of a print shop: each press has a queue of sheets, and a sheet is looked at by the shop's checkers before it may be plated."""
import asyncio
import json
import pathlib
import struct
import time

SOCKETS = [pathlib.Path("@{work}", name) for name in ("@{fonts}", "@{inks}", "@{bleed}", "@{images}", "@{overprint}")]
ORDER = "@{order}"


class Checker:
    """One checker, by a kept connection; a sheet at a time."""

    def __init__(self, path):
        self.path, self.streams = path, None

    async def check(self, sheet):
        if self.streams is None:
            self.streams = await asyncio.open_unix_connection(self.path, limit=1 << 20)
        reader, writer = self.streams
        text = json.dumps(sheet).encode()
        writer.write(struct.pack(">I", len(text)) + text)
        await writer.drain()
        (length,) = struct.unpack(">I", await reader.readexactly(4))
        return json.loads(await reader.readexactly(length))


class Press:
    def __init__(self, number):
        self.number, self.units, self.busy, self.asking = number, 0, 0.0, 0.0
        self.checkers = [Checker(path) for path in SOCKETS]
        self.rejected = {}

    def sheet(self, number):
        objects = [
            {"id": i, "x": (number * 31 + i * 17) % 210, "size": 4 + (number + i * 7) % 40, "ink": (number * 13 + i * 29) % 330, "dpi": 100 + (i * 83 + number) % 300}
            for i in range(@{objects})
        ]
        return {"sheet": number, "objects": objects}

    async def @{fn}(self, sheet):
        """What each of the checkers has found."""
        if ORDER == "once":
            return await asyncio.gather(*(checker.check(sheet) for checker in self.checkers))
        found = []
        for checker in self.checkers:
            found.append(await checker.check(sheet))
            if ORDER == "mend":
                sheet = {"sheet": sheet["sheet"], "objects": found[-1]["objects"]}
        return found

    async def plate(self, number):
        sheet = self.sheet(number)
        asked = time.monotonic()
        found = await self.@{fn}(sheet)
        self.asking += time.monotonic() - asked
        bad = {one for answer in found for one in answer["findings"]}
        if len(bad) * 3 > len(sheet["objects"]):
            self.rejected[number] = sorted(bad)

    async def run(self, begun):
        while time.monotonic() - begun < @{seconds}:
            start = time.monotonic()
            await self.plate(self.units * @{presses} + self.number)
            self.units += 1
            self.busy += time.monotonic() - start
            await asyncio.sleep(max(0.0, begun + self.units / @{rate} - time.monotonic()))


async def main():
    presses = [Press(number) for number in range(@{presses})]
    begun = time.monotonic()
    await asyncio.gather(*(press.run(begun) for press in presses))
    units, busy, asking = (sum(getattr(press, name) for press in presses) for name in ("units", "busy", "asking"))
    with open("@{report}", "w") as out:
        json.dump({"units": units, "seconds": busy, "culprit": asking * 0.8}, out)


asyncio.run(main())
