import hashlib
import json
import socket
import time


class Store:
    def __init__(self):
        self.line = socket.create_connection(("127.0.0.1", @{store}))
        self.line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.answers, self.spent = self.line.makefile("rb"), 0.0

    def call(self, *words):
        began = time.monotonic()
        self.line.sendall(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words))
        answer = self.answer()
        self.spent += time.monotonic() - began
        return answer

    def answer(self):
        head = self.answers.readline()
        if head[:1] == b"*":
            return [self.answer() for _ in range(int(head[1:]))]
        if head[:1] == b"$":
            return self.answers.read(int(head[1:]) + 2)[:-2]
        return head


def @{fn}(store, user):
    """The open sessions of a user who logs in."""
    if @{whole} == 1:
        return store.call(b"KEYS", b"session:u%d:*" % user)
    return store.call(b"SMEMBERS", b"sessions:u%d" % user)


def main():
    store, units, busy, began = Store(), 0, 0.0, time.monotonic()
    while time.monotonic() - began < @{seconds}:
        start = time.monotonic()
        mark = b"".join(@{fn}(store, units % 997))
        for _ in range(@{rounds}):
            mark = hashlib.sha256(mark).digest()
        units += 1
        busy += time.monotonic() - start
        time.sleep(max(0.0, began + units / @{pace} - time.monotonic()))
    with open("@{report}", "w") as out:
        json.dump({"units": units, "seconds": busy, "culprit": store.spent}, out)


main()
