"""Tests a town's sirens by radio: the nearer mast is asked first, and the farther one if that does not come."""
import json
import socket
import time


class Mast:
    def __init__(self, port):
        self.port, self.line, self.lost = port, None, 0.0

    def @{fn}(self, tries):
        """A line to the mast; None if it does not come."""
        start = time.perf_counter()
        for _ in range(tries):
            if self.line is not None:
                break
            try:
                self.line = socket.create_connection(("127.0.0.1", self.port), 2)
                self.line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            except ConnectionRefusedError:
                continue
        self.lost += time.perf_counter() - start
        return self.line


near, far = Mast(@{first}), Mast(@{second})


def test(number):
    line = near.@{fn}(@{most}) or far.@{fn}(@{most})
    text = ",".join(f"siren-{(number + siren) % 200}:{'up' if siren % 2 else 'down'}" for siren in range(@{sirens}))
    line.sendall(text.encode() + b"\n")
    return line.recv(100) == b"sent\n"


def main():
    units, good, busy, began = 0, 0, 0.0, time.perf_counter()
    while time.perf_counter() - began < @{seconds}:
        start = time.perf_counter()
        good += test(units)
        units += 1
        busy += time.perf_counter() - start
        time.sleep(max(0.0, start + 1 / @{per_s} - time.perf_counter()))
    with open("@{report}", "w") as report:
        json.dump({"units": units, "seconds": busy, "culprit": near.lost, "good": good}, report)


main()
