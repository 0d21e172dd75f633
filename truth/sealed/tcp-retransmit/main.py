import hashlib
import json
import socket
import time

USUAL = 0.1


class Depot:
    """Sends the state of each device to the depot in the other house."""

    def __init__(self, host, port):
        self.line = socket.create_connection((host, port))
        self.line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.answers = self.line.makefile("rb")
        self.spent = 0.0

    def @{fn}(self, state):
        began = time.monotonic()
        self.line.sendall(state + b"\n")
        answer = self.answers.readline()
        took = time.monotonic() - began
        self.spent += took if took > USUAL else 0
        return answer


def main():
    depot, units, busy, began = Depot("10.@{net}.@{subnet}.2", @{back}), 0, 0.0, time.monotonic()
    while time.monotonic() - began < @{seconds}:
        start = time.monotonic()
        mark = b"device %d" % (units % 100)
        for _ in range(@{rounds}):
            mark = hashlib.md5(mark).digest()
        depot.@{fn}((mark.hex().encode() * (1 + @{bytes} // 32))[:@{bytes}])
        units += 1
        busy += time.monotonic() - start
        time.sleep(max(0.0, began + units / @{pace} - time.monotonic()))
    with open("@{report}", "w") as out:
        json.dump({"units": units, "seconds": busy, "culprit": depot.spent}, out)


main()
