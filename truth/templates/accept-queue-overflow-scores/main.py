"""A game server: plays rounds, and posts the players' points when a round is over."""
import asyncio
import json
import time


def play(number):
    return [(player, (number * 7919 + player * 104729) % 5000) for player in range(@{players})]


async def @{fn}(player, points):
    """Posts a player's points; how long that took."""
    start = time.perf_counter()
    reader, writer = await asyncio.open_connection("127.0.0.1", @{scores})
    writer.write(b"player-%d %d\n" % (player, points))
    await reader.readline()
    writer.close()
    return time.perf_counter() - start


async def finish(results):
    posts = []
    for player, points in results:
        posts.append(asyncio.create_task(@{fn}(player, points)))
        if @{spread}:
            await asyncio.sleep(@{spread} / 1000)
    return [done for done in await asyncio.gather(*posts, return_exceptions=True) if not isinstance(done, OSError)]


async def main():
    begin, number, took = time.perf_counter(), 0, []
    while time.perf_counter() - begin < @{seconds}:
        await asyncio.sleep(@{round})
        took += await finish(play(number))
        number += 1
    with open("@{report}", "w") as report:
        json.dump({"units": len(took), "seconds": sum(took)}, report)


asyncio.run(main())
