"""The timing of a marathon: "pass N" notes when runner N came over a mat, and is answered by the place. The sheet of all times is saved again and again."""
import asyncio
import hashlib
import itertools
import logging
import os
import pathlib
import struct
import time
import zlib

FOLDER = pathlib.Path("@{work}/@{folder}")
RECORD, KEPT, PIECE = struct.Struct("<I4xd48x"), 3, 1 << 20


class Sheet:
    def __init__(self, size):
        self.bytes = bytearray(size)
        self.passed = 0

    def note(self, runner):
        at = runner * 4099 * RECORD.size % (len(self.bytes) - RECORD.size)
        RECORD.pack_into(self.bytes, at, runner, time.time())
        self.passed += 1
        return self.passed

    def @{fn}(self, number):
        with memoryview(self.bytes) as times, open(FOLDER / f"@{prefix}{number}", "wb", buffering=0) as file:
            sum = 0
            for at in range(0, len(times), PIECE):
                sum = zlib.crc32(times[at : at + PIECE], sum)
                file.write(times[at : at + PIECE])
            file.write(struct.pack("<Q", sum))
            os.fsync(file.fileno())
        (FOLDER / f"@{prefix}{number - KEPT}").unlink(missing_ok=True)


def slip(runner, place):
    """What the runner gets at the end: hard to make up."""
    sum = f"{runner} {place}".encode()
    for _ in range(@{rounds}):
        sum = hashlib.sha1(sum).digest()
    return sum[:5].hex()


async def save(sheet):
    loop = asyncio.get_running_loop()
    for number in itertools.count(1):
        await asyncio.sleep(@{every} / 1000)
        try:
            if "@{place}" == "here":
                sheet.@{fn}(number)
            else:
                await loop.run_in_executor(None, sheet.@{fn}, number)
        except OSError as error:
            logging.warning("not saved: %s", error)


async def main():
    sheet = Sheet(@{kb} * 1024)

    async def serve(mat, answers):
        async for line in mat:
            runner = int(line.split()[1])
            place = sheet.note(runner)
            answers.write(f"{place} {slip(runner, place)}\n".encode())
            await answers.drain()
        answers.close()

    server = await asyncio.start_server(serve, "127.0.0.1", @{port})
    await asyncio.gather(server.serve_forever(), save(sheet))


asyncio.run(main())
