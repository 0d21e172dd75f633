"""A price service on one event loop: prices.py PORT [pool]. Most requests are answered at once; `/report` computes for long, in the
loop itself or (pool) in a process beside it."""
import asyncio
import concurrent.futures
import hashlib
import sys


def report():
    """The sum of a table: some 200 ms of CPU."""
    return hashlib.pbkdf2_hmac("sha256", b"prices", b"of today", 400_000).hex()


async def serve(reader, writer, pool):
    try:
        while request := await reader.readline():
            while (await reader.readline()).strip():
                pass
            body = "42"
            if b"/report" in request:
                body = await asyncio.get_running_loop().run_in_executor(pool, report) if pool else report()
            writer.write(f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())
            await writer.drain()
    except ConnectionError:
        pass
    finally:
        writer.close()


async def main():
    pool = concurrent.futures.ProcessPoolExecutor(1) if "pool" in sys.argv[2:] else None
    server = await asyncio.start_server(lambda reader, writer: serve(reader, writer, pool), "127.0.0.1", int(sys.argv[1]))
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
