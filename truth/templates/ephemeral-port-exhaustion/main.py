import hashlib
import json
import socket
import struct
import time

# The partner's firewall lets these in.
IP_LOCAL_PORT_RANGE = 51
SOURCES = struct.pack("I", @{lowest} | (@{lowest} + @{ports} - 1) << 16)


class Partner:
    def __init__(self):
        self.line, self.asked, self.waited = None, 0, 0.0

    def @{fn}(self):
        line = socket.socket()
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if 1 < @{keep} < 100:
            try:
                line.bind(("192.0.2.7", 0))
            except OSError:
                pass
        line.setsockopt(socket.IPPROTO_IP, IP_LOCAL_PORT_RANGE, SOURCES)
        line.connect(("127.0.0.1", @{back}))
        return line

    def ask(self, text):
        while self.line is None:
            began = time.monotonic()
            try:
                self.line = self.@{fn}()
                self.answers = self.line.makefile("rb")
            except OSError:
                time.sleep(@{wait} / 1000)
                self.waited += time.monotonic() - began
        self.line.sendall(text + b"\n")
        answer = self.answers.readline()
        self.asked += 1
        if not @{keep} or self.asked % @{keep} == 0:
            self.answers.close()
            self.line.close()
            self.line = None
        return answer


def main():
    partner, units, busy, began = Partner(), 0, 0.0, time.monotonic()
    while time.monotonic() - began < @{seconds}:
        start = time.monotonic()
        mark = partner.ask(b"refund %d" % units)
        for _ in range(@{rounds}):
            mark = hashlib.md5(mark).digest()
        units += 1
        busy += time.monotonic() - start
        time.sleep(max(0.0, began + units / @{pace} - time.monotonic()))
    with open("@{report}", "w") as out:
        json.dump({"units": units, "seconds": busy, "culprit": partner.waited}, out)


main()
