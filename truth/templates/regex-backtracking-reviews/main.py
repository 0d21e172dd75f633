"""A filter in front of a page of reviews: advertisements are kept back, and so is what was said a moment ago."""
import asyncio
import collections
import re
import unicodedata

OFFER = {
    "free": re.compile(r"^.*(www|http).*\..*\..*[0-9]+ ?(eur|usd)"),
    "strict": re.compile(r"(?:www|http)[^.\s]*\.[^.\s]*\.[^0-9]*[0-9]+ ?(?:eur|usd)"),
}["@{expression}"]


class Filter:
    def __init__(self, kept):
        self.recent = collections.deque(maxlen=kept)
        self.counts = collections.Counter()

    def @{fn}(self, text):
        return OFFER.search(text) is not None

    def threes(self, text):
        """The threes of letters of a text, by which likeness is measured."""
        return {text[at:at + 3] for at in range(0, len(text) - 2, 2)}

    def is_repeated(self, threes):
        return any(len(threes) > 60 and len(threes & earlier) > len(threes) * 0.97 for earlier in self.recent)

    def verdict(self, text):
        lower = unicodedata.normalize("NFC", text.lower())
        if self.@{fn}(lower):
            return "offer"
        threes = self.threes(lower)
        if self.is_repeated(threes):
            return "repeated"
        self.recent.append(threes)
        return "published"

    async def serve(self, reader, writer):
        while line := await reader.readline():
            said = self.verdict(line.decode(errors="replace").strip())
            self.counts[said] += 1
            writer.write(said.encode() + b"\n")
            await writer.drain()
        writer.close()

    async def tell(self):
        while True:
            await asyncio.sleep(5)
            print(dict(self.counts), flush=True)


async def main():
    reviews = Filter(@{recent} * 2)
    server = await asyncio.start_server(reviews.serve, "127.0.0.1", @{port})
    async with server:
        await asyncio.gather(server.serve_forever(), reviews.tell())


asyncio.run(main())
