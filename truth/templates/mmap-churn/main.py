"""Looks up the places of articles in an index that another program writes."""
import json
import mmap
import struct
import time
import zlib

def report(units, seconds, culprit):
    with open("@{report}", "w") as out:
        json.dump({"units": units, "seconds": seconds, "culprit": culprit}, out)

RECORD = struct.Struct("<QQ")
COUNT = @{kb} * 1024 // RECORD.size


LABEL = b"article " * (@{spins} * 8)


class Index:
    def __init__(self, path):
        self.file = open(path, "rb")
        self.map = mmap.mmap(self.file.fileno(), 0, prot=mmap.PROT_READ)

    def @{fn}(self, key, fresh):
        # Another one may have taken its place: a fresh view for each question.
        view = mmap.mmap(self.file.fileno(), 0, prot=mmap.PROT_READ) if fresh else self.map
        found = RECORD.unpack_from(view, key % COUNT * RECORD.size)[1]
        if fresh:
            view.close()
        return found


def main():
    with open("@{work}/@{table}", "wb") as out:
        out.write(b"".join(RECORD.pack(n, n * 7919) for n in range(COUNT)))
    index = Index("@{work}/@{table}")
    units, busy, culprit, places = 0, 0.0, 0.0, {}
    began = time.monotonic()
    while time.monotonic() - began < @{seconds}:
        start = time.monotonic()
        keys = [(units * 31 + i * 7919) % 100_000 for i in range(@{batch})]
        asked = time.monotonic()
        found = [index.@{fn}(key, "@{keep}" == "no" and i % @{every} == 0) for i, key in enumerate(keys)]
        culprit += time.monotonic() - asked
        places.update(zip((key % 50 for key in keys), found))
        for place in found:
            places[zlib.crc32(LABEL, place & 65535) % 50] = place
        units += 1
        busy += time.monotonic() - start
        time.sleep(max(0.0, began + units / @{rate} - time.monotonic()))
    report(units, busy, culprit)


main()
