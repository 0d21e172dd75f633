"""The portal of a travel clinic: into which countries may a traveller go with the vaccinations that the registry knows of?"""
import asyncio
import json
import re

TODAY = 20050
KINDS = ["yellow fever", "hepatitis A", "hepatitis B", "typhoid", "rabies", "cholera", "polio", "measles"]
LASTS = {"yellow fever": 36500, "typhoid": 1095, "cholera": 730}
COUNTRIES = [
    (chr(65 + i % 26) + chr(65 + i * 7 % 26), [kind for k, kind in enumerate(KINDS) if (i * 5 + k * 3) % 4 == 0])
    for i in range(@{countries})
]


async def head(reader):
    """The first line and the fields of a message; None at its end."""
    try:
        text = await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    first, *fields = text.decode("latin-1").rstrip().split("\r\n")
    return first, {name.strip().lower(): value.strip() for name, _, value in (field.partition(":") for field in fields)}


class Registry:
    """Keeps a few connections, and lends them out."""

    def __init__(self, most):
        self.lines = asyncio.LifoQueue()
        for _ in range(most):
            self.lines.put_nowait(None)

    async def @{fn}(self, person):
        line = await self.lines.get()
        try:
            if line is None:
                line = await asyncio.open_connection("127.0.0.1", @{registry})
            reader, writer = line
            writer.write(f"GET /persons/{person}/doses HTTP/1.1\r\nHost: registry\r\n\r\n".encode())
            _, fields = await head(reader)
            return json.loads(await reader.readexactly(int(fields["content-length"])))
        except (OSError, TypeError, asyncio.IncompleteReadError):
            line = None
            raise
        finally:
            self.lines.put_nowait(line)


def admitted(doses):
    until = {}
    for dose in doses:
        kind = dose["against"]
        until[kind] = max(until.get(kind, 0), dose["day"] + LASTS.get(kind, 3650))
    for code, wants in COUNTRIES:
        missing = [kind for kind in wants if until.get(kind, 0) < TODAY]
        yield {"code": code, "missing": missing} if missing else {"code": code, "until": min((until[kind] for kind in wants), default=None)}


class Portal:
    def __init__(self):
        self.registry = Registry(@{pool})

    async def talk(self, reader, writer):
        while (asked := await head(reader)) is not None:
            found = re.match(r"GET /travellers/(\d+)/entry ", asked[0])
            if found:
                status, body = "200 OK", json.dumps(list(admitted(await self.registry.@{fn}(found[1]))))
            else:
                status, body = "404 Not Found", "{}"
            writer.write(f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())
        writer.close()


async def main():
    server = await asyncio.start_server(Portal().talk, "127.0.0.1", @{port}, backlog=64)
    await server.serve_forever()


asyncio.run(main())
