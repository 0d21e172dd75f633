"""The displays at the benches: each shows the newest reading of its bench. And the archive, which fetches a season now and then."""
import json
import random
import socket
import threading
import time

units, seconds, rest = [0], [0.0], [0.0]
guard = threading.Lock()
end = time.monotonic() + @{seconds}


class Door:
    def __init__(self):
        self.socket = socket.create_connection(("127.0.0.1", @{port}), 10)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = bytearray(1 << 18)

    def ask(self, text):
        """The first bytes of the answer, and when they were there."""
        self.socket.sendall(text.encode() + b"\n")
        head = b""
        while b"\n" not in head:
            head += self.socket.recv(4096)
        first = time.monotonic()
        line, _, body = head.partition(b"\n")
        left = int(line.split()[1]) - len(body)
        while left > 0:
            got = self.socket.recv_into(self.buffer, min(left, len(self.buffer)))
            if not got:
                raise OSError("closed")
            left -= got
        return line, first


def display(bench):
    chance, door = random.Random(bench), Door()
    while time.monotonic() < end:
        began = time.monotonic()
        _, first = door.ask(f"bench {bench}")
        done = time.monotonic()
        with guard:
            units[0] += 1
            seconds[0] += done - began
            rest[0] += done - first
        time.sleep(@{think} / 1000 * chance.uniform(0.5, 1.5))


def archive():
    door = Door()
    while time.monotonic() < end:
        door.ask("season 0")
        time.sleep(@{archive})


people = [threading.Thread(target=display, args=(n,), daemon=True) for n in range(1, @{displays} + 1)]
if @{archive}:
    threading.Thread(target=archive, daemon=True).start()
for one in people:
    one.start()
for one in people:
    one.join(@{seconds} + 10)
with open("@{report}", "w") as out:
    json.dump({"units": units[0], "seconds": seconds[0], "culprit": rest[0]}, out)
