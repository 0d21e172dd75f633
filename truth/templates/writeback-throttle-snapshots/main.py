"""A cache of rendered maps; each shard saves what it has, so that a restart finds it."""
import json
import os
import random
import struct
import threading
import time
import zlib

BLOCK = 65536
lock = threading.Lock()
totals = {"units": 0, "seconds": 0.0, "culprit": 0.0}


class Shard:
    def __init__(self, number):
        self.number, self.turn, self.chance = number, 0, random.Random(number)
        self.blocks = [self.chance.randbytes(BLOCK) for _ in range(@{used})]

    def path(self, turn):
        return f"@{work}/@{volume}/{self.number}-{turn}-@{snapshot}"

    def change(self):
        """The numbers of the blocks that are to be saved, with marks of what is in them."""
        most = max(1, int(@{used} * @{changed}))
        numbers = range(@{used}) if most == @{used} else sorted(self.chance.sample(range(@{used}), most))
        marks = []
        for number in numbers:
            marks.append((number, zlib.crc32(self.blocks[number])))
        return marks

    def render(self):
        end, at = time.monotonic() + @{effort} / 1000, 0
        while time.monotonic() < end:
            at = zlib.adler32(zlib.compress(self.blocks[at % len(self.blocks)][:16384], 1))

    def @{fn}(self, marks):
        with open(self.path(self.turn), "wb") as out:
            for number, mark in marks:
                out.write(struct.pack("!II", number, mark) + self.blocks[number])
        if self.turn >= 2:
            os.unlink(self.path(self.turn - 2))
        self.turn += 1


def keep(shard, began):
    while time.monotonic() - began < @{seconds}:
        start = time.monotonic()
        shard.render()
        marks = shard.change()
        saving = time.monotonic()
        shard.@{fn}(marks)
        took = time.monotonic() - saving
        with lock:
            totals["units"] += 1
            totals["seconds"] += time.monotonic() - start
            totals["culprit"] += took
        time.sleep(max(0.0, start + @{period} - time.monotonic()))


def main():
    shards = [Shard(number) for number in range(@{shards})]
    began = time.monotonic()
    threads = [threading.Thread(target=keep, args=(shard, began), name=f"shard-{shard.number}") for shard in shards]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with open("@{report}", "w") as out:
        json.dump(totals, out)


main()
