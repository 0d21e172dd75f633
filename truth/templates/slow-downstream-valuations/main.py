"""The counter of a land office: "value N" is answered by what the house of deed N may be worth."""
import asyncio
import dataclasses
import hashlib
import logging
import urllib.parse


@dataclasses.dataclass
class Deed:
    number: int
    seal: str
    parish: int
    rooms: int
    metres: int
    year: int

    @classmethod
    def of(cls, number):
        seal = f"deed {number}".encode()
        for _ in range(@{rounds} // 6):
            seal = hashlib.sha256(seal).digest()
        draw = int.from_bytes(seal[:4], "big")
        return cls(number, seal.hex()[:16], draw % @{parishes}, 1 + number % 9, 40 + draw // 3 % 160, 1880 + number * 7 % 140)

    def query(self):
        return urllib.parse.urlencode({"parish": self.parish, "rooms": self.rooms, "metres": self.metres, "year": self.year})


async def scgi(path, query=""):
    headers = {"CONTENT_LENGTH": "0", "SCGI": "1", "REQUEST_METHOD": "GET", "PATH_INFO": path, "QUERY_STRING": query}
    text = "".join(f"{name}\0{value}\0" for name, value in headers.items()).encode()
    answers, line = await asyncio.open_unix_connection("@{work}/@{sock}")
    try:
        line.write(b"%d:%s," % (len(text), text))
        head, _, body = (await answers.read()).partition(b"\r\n\r\n")
    finally:
        line.close()
    if not head.startswith(b"Status: 200"):
        raise OSError(f"the assessor says {head!r}")
    return body.strip().decode()


async def @{fn2}(deed):
    return float(await scgi("/value", deed.query())) * deed.metres


async def serve(notary, answers):
    try:
        async for line in notary:
            deed = Deed.of(int(line.split()[1]))
            worth = await @{fn2}(deed)
            answers.write(f"{deed.number} {deed.seal} {worth:.0f}\n".encode())
            await answers.drain()
    except (OSError, ValueError) as error:
        logging.warning("%s", error)
    finally:
        answers.close()


async def guidelines():
    while True:
        logging.debug(await scgi("/guidelines"))


async def main():
    news = asyncio.create_task(guidelines()) if @{news} else None
    server = await asyncio.start_server(serve, "127.0.0.1", @{port})
    async with server:
        await server.serve_forever()
    if news:
        news.cancel()


asyncio.run(main())
