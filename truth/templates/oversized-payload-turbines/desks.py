"""The desks of a wind park: each shows the table of the turbines, and asks for it anew after a while.

A question is two numbers (what, which); an answer is its length, then records: number, power, state, the count of samples, and the samples."""
import json
import random
import socket
import struct
import threading
import time

HEAD, ROW = struct.Struct("<I"), struct.Struct("<HHIHH")
TABLE, CURVE = 1, 2
took, errors = [], []


def exactly(link, size):
    kept = bytearray(size)
    view, have = memoryview(kept), 0
    while have < size:
        more = link.recv_into(view[have:])
        if not more:
            raise OSError("the park has hung up")
        have += more
    return kept


def rows(answer):
    at = 0
    while at < len(answer):
        number, state, power, samples, _ = ROW.unpack_from(answer, at)
        yield number, state, power
        at += ROW.size + 2 * samples


def desk(number, end):
    chance = random.Random(number)
    time.sleep(chance.random() * @{think} / 1000)
    with socket.socket(socket.AF_UNIX) as link:
        link.settimeout(10)
        link.connect("@{work}/@{door}")
        views = 0
        while time.monotonic() < end:
            views += 1
            special = @{inspect} and views % max(1, @{inspect}) == 0
            start = time.monotonic()
            link.sendall(struct.pack("<HH", CURVE if special else TABLE, chance.randrange(@{turbines})))
            answer = exactly(link, HEAD.unpack(exactly(link, HEAD.size))[0])
            table = [f"{number:4} {state:3} {power / 10:8.1f} kW" for number, state, power in rows(answer)]
            if len(table) != (1 if special else @{turbines}):
                errors.append(len(table))
            took.append(time.monotonic() - start)
            time.sleep(@{think} / 1000 * chance.uniform(0.5, 1.5))


def main():
    end = time.monotonic() + @{seconds}
    desks = [threading.Thread(target=desk, args=(number, end)) for number in range(@{desks})]
    for one in desks:
        one.start()
    for one in desks:
        one.join()
    with open("@{report}", "w") as out:
        json.dump({"units": len(took), "seconds": sum(took), "errors": len(errors)}, out)


main()
