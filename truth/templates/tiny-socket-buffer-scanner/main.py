"""Brings the recordings of a radio's studios to its archive: each is levelled, sent over the line to the other house, and confirmed there."""
import array
import json
import logging
import random
import socket
import struct
import threading
import time
import zlib

logging.basicConfig(filename="@{work}/recordings.log", level=logging.INFO, format="%(asctime)s %(threadName)s %(message)s")
log = logging.getLogger("recordings")
SIZE = @{size}
BUFFER = @{buffer}


class Archive:
    def __init__(self):
        self.spent = 0.0
        self.line = self.@{fn}()

    def @{fn}(self):
        line = socket.socket()
        if BUFFER:
            line.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER)
        line.settimeout(30)
        line.connect(("10.@{net}.@{sub}.2", @{port}))
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return line

    def put(self, number, recording):
        start = time.monotonic()
        self.line.sendall(struct.pack(">II", number, len(recording)) + recording)
        answer = b""
        while len(answer) < 8:
            part = self.line.recv(8 - len(answer))
            if not part:
                raise OSError("the archive hung up")
            answer += part
        self.spent += time.monotonic() - start
        if struct.unpack(">II", answer) != (number, zlib.crc32(recording)):
            raise RuntimeError(f"recording {number} is not what was sent")


class Studio(threading.Thread):
    def __init__(self, number):
        super().__init__(name=f"studio-{number}")
        self.number, self.archive, self.units, self.busy = number, Archive(), 0, 0.0
        chance = random.Random(number)
        self.tape = array.array("h", (chance.randrange(-9000, 9000) for _ in range(SIZE // 2)))

    def levelled(self, number):
        """No louder than allowed, and as loud as that, in steps that nobody hears."""
        part = self.tape[number % 50:2000 + number % 50]
        gain = 1.0
        for _ in range(@{effort}):
            loudest = max(abs(value) * gain for value in part)
            gain *= (1.0 + 20000 / max(1.0, loudest)) / 2
        middle = array.array("h", (max(-32000, min(32000, int(value * gain))) for value in part))
        return (middle + self.tape)[:SIZE // 2].tobytes()

    def run(self):
        began = due = time.monotonic()
        while time.monotonic() - began < @{seconds}:
            due = max(due + 1 / @{rate}, time.monotonic())
            time.sleep(max(0.0, due - time.monotonic()))
            start = time.monotonic()
            number = self.number * 100000 + self.units
            self.archive.put(number, self.levelled(number))
            self.busy += time.monotonic() - start
            self.units += 1
            log.info("recording %d", number)


def main():
    studios = [Studio(number) for number in range(@{scanners})]
    for studio in studios:
        studio.start()
    for studio in studios:
        studio.join()
    units, busy = sum(one.units for one in studios), sum(one.busy for one in studios)
    with open("@{report}", "w") as out:
        json.dump({"units": units, "seconds": busy, "culprit": sum(one.archive.spent for one in studios)}, out)


main()
