import json
import random
import socket
import threading
import time

END = time.monotonic() + @{seconds}
took, lock = [], threading.Lock()
SUM = """local sum = 0 for i = 0, tonumber(ARGV[1]), 50 do
  for _, one in ipairs(redis.call('LRANGE', KEYS[1], i, i + 49)) do sum = sum + one end end return sum"""
WHOLE = {
    "KEYS": [b"KEYS", b"session:u5:*"], "SMEMBERS": [b"SMEMBERS", b"subscribers"], "HGETALL": [b"HGETALL", b"tariffs"],
    "EVAL": [b"EVAL", SUM.encode(), b"1", b"takings", b"@{size}"],
}
SMALL = {
    "KEYS": [b"SMEMBERS", b"sessions:u5"], "SMEMBERS": [b"SMEMBERS", b"sessions:u5"], "HGETALL": [b"HGETALL", b"tariff:5"],
    "EVAL": [b"EVAL", SUM.encode(), b"1", b"takings", b"10"],
}
STEP = {
    "KEYS": [b"SCAN", b"0", b"COUNT", b"50"], "SMEMBERS": [b"SSCAN", b"subscribers", b"0"], "HGETALL": [b"HSCAN", b"tariffs", b"0"],
    "EVAL": [b"LRANGE", b"takings", b"0", b"40"],
}


class Line:
    def __init__(self):
        self.line = socket.create_connection(("127.0.0.1", @{store}))
        self.line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.answers = self.line.makefile("rb", 1 << 18)

    def call(self, words):
        self.line.sendall(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words))
        left = 1
        while left:
            head = self.answers.readline()
            left -= 1
            if head[:1] == b"*":
                left += int(head[1:])
            elif head[:1] == b"$" and head[1:2] != b"-":
                self.answers.read(int(head[1:]) + 2)
            elif head[:1] == b"-":
                raise SystemExit(head)


def report():
    line = Line()
    words = [STEP, WHOLE, SMALL][@{whole}]["@{verb}"]
    while time.monotonic() < END:
        line.call(words)
        time.sleep(@{gap} / 1000 * random.uniform(0.5, 1.5))


def desk(number):
    line, chance = Line(), random.Random(number)
    while time.monotonic() < END:
        began = time.monotonic()
        line.call([b"GET", b"session:u%d:%d" % (number, chance.randint(0, 999) * 997 + number)])
        with lock:
            took.append(time.monotonic() - began)
        time.sleep(@{think} / 1000 * chance.uniform(0.5, 1.5))


threads = [threading.Thread(target=report, daemon=True)] + [threading.Thread(target=desk, args=(n,), daemon=True) for n in range(@{clients})]
for thread in threads:
    thread.start()
for thread in threads[1:]:
    thread.join(@{seconds} + 10)
with open("@{report}", "w") as out:
    json.dump({"units": len(took), "seconds": sum(took)}, out)
