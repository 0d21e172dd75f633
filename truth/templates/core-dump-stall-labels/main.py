"""Reads the meters in photos that customers send: the master knows the shapes of all digits, a copy of it looks at photos. One that falls is replaced."""
import array
import json
import logging
import os
import random
import resource
import signal
import struct
import time

logging.basicConfig(filename="@{work}/photos.log", level=logging.INFO, format="%(asctime)s %(message)s")
log = logging.getLogger("photos")
SHAPE = 256


class Shapes:
    """Shapes of digits, of all makes of meters."""

    def __init__(self, size):
        chance = random.Random(5)
        pattern = array.array("I", (chance.getrandbits(32) for _ in range(1 << 14)))
        self.cells = array.array("I")
        while len(self.cells) * 4 < size:
            self.cells.extend(pattern)
        self.count = len(self.cells) // SHAPE

    def likeness(self, make, digit, pixels):
        at = (make * 10 + digit) * 31 % self.count * SHAPE
        shape, same = self.cells[at:at + SHAPE], 0
        for one, other in zip(shape, pixels):
            same += (one ^ other) & 15 == 0
        return same


class Photo:
    def __init__(self, number):
        chance = random.Random(number)
        self.number, self.make = number, number % 60
        self.pixels = [chance.getrandbits(32) for _ in range(@{letters} * 2)]
        # Some phones turn a photo by a quarter and do not say so.
        self.turned = number % @{one_in} == @{one_in} // 2


def @{fn}(shapes, photo):
    if photo.turned:
        # The shapes are not made for that: better no reading than a wrong one on a bill.
        os.abort()
    reading = 0
    for place in range(5):
        rating = [0] * 10
        for digit in range(10):
            for turn in range(max(1, @{effort} // 12)):
                rating[digit] += shapes.likeness(photo.make + turn, digit, photo.pixels)
        reading = reading * 10 + rating.index(max(rating))
    return reading


class Worker:
    """A process that reads the numbers of photos, and answers each by its reading."""

    def __init__(self, shapes):
        (asked, ask), (answers, answer) = os.pipe(), os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(ask)
            os.close(answers)
            try:
                while number := os.read(asked, 4):
                    os.write(answer, struct.pack("I", @{fn}(shapes, Photo(*struct.unpack("I", number)))))
            finally:
                os._exit(0)
        os.close(asked)
        os.close(answer)
        self.ask, self.answers = ask, answers

    def read(self, number):
        os.write(self.ask, struct.pack("I", number))
        answer = os.read(self.answers, 4)
        return struct.unpack("I", answer)[0] if answer else None

    def gone(self):
        os.close(self.ask)
        os.close(self.answers)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def main():
    allowed = resource.RLIM_INFINITY if @{core} else 0
    resource.setrlimit(resource.RLIMIT_CORE, (allowed, allowed))
    shapes = Shapes(@{held_mb} << 20)
    worker = Worker(shapes)
    units, busy, spent, began = 0, 0.0, 0.0, time.monotonic()
    due = began
    while time.monotonic() - began < @{seconds}:
        due = max(due + 1 / @{rate}, time.monotonic())
        time.sleep(max(0.0, due - time.monotonic()))
        start = time.monotonic()
        reading = worker.read(units)
        if reading is None:
            # By a person, then.
            log.warning("photo %d: the worker ended with %d", units, worker.gone())
            worker = Worker(shapes)
            spent += time.monotonic() - start
        else:
            log.info("photo %d: %05d", units, reading)
        busy += time.monotonic() - start
        units += 1
    os.kill(worker.pid, signal.SIGTERM)
    with open("@{report}", "w") as out:
        json.dump({"units": units, "seconds": busy, "culprit": spent}, out)


main()
