"""The mail exchanger: takes letters by SMTP. It looks at who calls before it says who it is."""
import asyncio


async def serve(reader, writer):
    async def say(text):
        writer.write(text.encode() + b"\r\n")
        await writer.drain()

    try:
        await asyncio.sleep(@{greeting} / 1000)
        await say("220 mx.singers.test ESMTP")
        while line := await reader.readline():
            verb = line[:4].upper().strip()
            if verb in (b"EHLO", b"HELO"):
                await say("250-mx.singers.test\r\n250-8BITMIME\r\n250 SIZE 1000000")
            elif verb == b"DATA":
                await say("354 go on")
                await reader.readuntil(b"\r\n.\r\n")
                await asyncio.sleep(@{taking} / 1000)
                await say("250 taken")
            elif verb == b"QUIT":
                await say("221 goodbye")
                break
            else:
                await say("250 well")
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    writer.close()


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", @{port}, backlog=512)
    await server.serve_forever()


asyncio.run(main())
