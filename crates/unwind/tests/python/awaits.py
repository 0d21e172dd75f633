"""Tasks that wait: three for a peer's answer, one for a time, one that is done; the loop waits for all of them."""
import asyncio
import socket


class PaymentsClient:
    async def fetch(self, peer):
        loop = asyncio.get_running_loop()
        return await loop.sock_recv(peer, 100)  # fetch


async def handle(client, peer):
    return await client.fetch(peer)  # handle


async def tick():
    while True:
        await asyncio.sleep(600)  # tick


async def done():
    pass


async def main():
    pairs = [socket.socketpair() for _ in range(3)]
    for ours, _ in pairs:
        ours.setblocking(False)
    client = PaymentsClient()
    tasks = [asyncio.create_task(handle(client, ours)) for ours, _ in pairs]
    tasks += [asyncio.create_task(tick()), asyncio.create_task(done())]
    await asyncio.sleep(0.1)
    print("ready", flush=True)
    await asyncio.gather(*tasks)


asyncio.run(main())
