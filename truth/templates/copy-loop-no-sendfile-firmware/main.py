"""Pushes firmware to a depot's chargers: whichever is next in the plan gets the image of its model."""
import heapq
import json
import os
import socket
import time

SEAL = bytes.maketrans(bytes(range(256)), bytes(byte ^ 0x5A for byte in range(256)))


class Push:
    def __init__(self):
        self.line = socket.create_connection(("127.0.0.1", @{port}))
        self.line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.answers, self.sending = self.line.makefile("rb"), 0.0

    def @{fn}(self, image):
        if "@{way}" == "send":
            return self.line.sendfile(image)
        total = 0
        while part := image.read(@{piece}):
            if "@{way}" == "seal":
                part = part.translate(SEAL)
            self.line.sendall(part)
            total += len(part)
        return total

    def flash(self, charger, model, version):
        with open(f"@{work}/@{shelf}/model-{model}.@{ending}", "rb", buffering=0) as image:
            size = os.fstat(image.fileno()).st_size
            self.line.sendall(b"flash %d %d %d\n" % (charger, version, size))
            start = time.perf_counter()
            sent = self.@{fn}(image)
            self.sending += time.perf_counter() - start
        return self.answers.readline() == b"flashed\n" and sent == size


def main():
    plan = [(3 + n % 4, 4000 + n * 7, n * 5 % (@{last} + 1)) for n in range(90)]
    heapq.heapify(plan)
    push, busy, units, began = Push(), 0.0, 0, time.perf_counter()
    while time.perf_counter() - began < @{seconds}:
        start = time.perf_counter()
        version, charger, model = heapq.heappop(plan)
        done = push.flash(charger, model, version)
        heapq.heappush(plan, (version + done, charger, model))
        units += 1
        busy += time.perf_counter() - start
        time.sleep(max(0.0, start + 1 / @{rate} - time.perf_counter()))
    with open("@{report}", "w") as report:
        json.dump({"units": units, "seconds": busy, "culprit": push.sending}, report)


main()
