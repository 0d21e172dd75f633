"""The members' area of a club: pages, and a login for those who want to book a court."""
import asyncio
import concurrent.futures
import hashlib
import hmac
import json
import os
import secrets
import time

ROUNDS = max(1, round(@{ms} * 2200))
POOL = concurrent.futures.ThreadPoolExecutor(4)


class Members:
    def __init__(self, count):
        self.salts = {f"user-{i}": os.urandom(16) for i in range(count)}
        self.keys = {}
        self.sessions = {}

    async def login(self, name, password):
        salt = self.salts[name]
        if "@{place}" == "here":
            key = @{fn}(password, salt)
        else:
            key = await asyncio.get_running_loop().run_in_executor(POOL, @{fn}, password, salt)
        if not hmac.compare_digest(self.keys.setdefault(name, key), key):
            return None
        token = secrets.token_hex(12)
        self.sessions[token] = (name, time.monotonic())
        return token

    async def forget_old(self):
        while True:
            await asyncio.sleep(5)
            limit = time.monotonic() - 60
            self.sessions = {token: one for token, one in self.sessions.items() if one[1] > limit}


def @{fn}(password, salt):
    return hashlib.pbkdf2_hmac("sha256", password.encode(), salt, ROUNDS)


PAGES = [f"<h1>Court {i}</h1>" + "<p>free from nine to ten</p>" * (20 + i) for i in range(40)]


def answer(status, kind, text):
    body = text.encode()
    return f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


async def visit(members, number):
    if number * 37 // 11 % @{turn} == 0:
        name = f"user-{number % @{users}}"
        token = await members.login(name, f"secret of {name}")
        return answer("200 OK" if token else "403 Forbidden", "application/json", json.dumps({"token": token}))
    return answer("200 OK", "text/html", PAGES[number % len(PAGES)])


async def main():
    members = Members(@{users})

    async def serve(reader, writer):
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                number = int(head.split(b" ", 2)[1].rsplit(b"/", 1)[-1])
                writer.write(await visit(members, number))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", @{port})
    tidy = asyncio.create_task(members.forget_old())
    async with server:
        await server.serve_forever()
    tidy.cancel()


asyncio.run(main())
