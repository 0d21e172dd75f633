import asyncio
import json
import time

HUB = [("127.0.0.1", @{first}), ("127.0.0.1", @{hub})]


class Uplink:
    """Pushes notifications to the hub; keeps the last that it did not take."""

    def __init__(self):
        self.reader = self.writer = None
        self.spent, self.sent = 0.0, 0
        self.missed = []

    async def @{fn}(self):
        for _ in range(@{tries}):
            for host, port in HUB:
                try:
                    self.reader, self.writer = await asyncio.open_connection(host, port)
                    return True
                except OSError:
                    continue
            await asyncio.sleep(@{pause} / 1000)
        return False

    async def push(self, text):
        began = time.monotonic()
        there = self.writer is not None or await self.@{fn}()
        self.spent += time.monotonic() - began
        if not there:
            self.missed = [*self.missed[-20:], text]
            return
        self.writer.write(text.encode() + b"\n")
        await self.reader.readline()
        self.sent += 1
        if self.sent % @{renew} == 0:
            self.writer.close()
            self.writer = None


async def main():
    uplink, units, busy, began = Uplink(), 0, 0.0, time.monotonic()
    while time.monotonic() - began < @{seconds}:
        start = time.monotonic()
        await uplink.push(json.dumps({"user": units % 31, "text": "your parcel is on its way", "number": units}))
        units += 1
        busy += time.monotonic() - start
        await asyncio.sleep(max(0.0, began + units / @{pace} - time.monotonic()))
    with open("@{report}", "w") as out:
        json.dump({"units": units, "seconds": busy, "culprit": uplink.spent}, out)


asyncio.run(main())
