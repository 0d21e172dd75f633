"""Seals the parts of an archive: a thread for each part."""
import hashlib
import json
import threading
import time

PART = bytes(range(256)) * 8


def @{fn}(rounds):
    """A checksum as the old format wants it."""
    one, two = 1, 0
    for number in range(rounds):
        one = (one + PART[number & 2047]) % 65521
        two = (two + one) % 65521
    return two << 16 | one


def seal(rounds):
    return hashlib.sha256(PART * max(1, rounds // 200)).hexdigest()


class Part(threading.Thread):
    def __init__(self, number, began):
        super().__init__(name=f"part-{number}")
        self.number, self.began = number, began
        self.units, self.busy, self.own = 0, 0.0, 0.0

    def run(self):
        while time.monotonic() - self.began < @{seconds}:
            start, cpu = time.monotonic(), time.thread_time()
            for _ in range(20):
                if @{native} == 0:
                    @{fn}(@{effort})
                else:
                    seal(@{effort})
            if @{native} == 2:
                @{fn}(300)
            self.units += 1
            self.busy += time.monotonic() - start
            self.own += time.thread_time() - cpu
            late = self.units / @{pace} + self.number * 0.1 - (time.monotonic() - self.began)
            if late > 0:
                time.sleep(min(late, max(0.0, @{seconds} - (time.monotonic() - self.began))))


began = time.monotonic()
parts = [Part(number, began) for number in range(@{threads})]
for part in parts:
    part.start()
for part in parts:
    part.join()
busy = sum(part.busy for part in parts)
with open("@{report}", "w") as out:
    json.dump({"units": sum(part.units for part in parts), "seconds": busy, "culprit": 0 if @{native} else busy - sum(part.own for part in parts)}, out)
