"""The parrots: each says a word at its nest, and waits until it is heard."""
import os
import pathlib
import random
import socket
import time

chance = random.Random(23)
COUNT = @{count}
parrot = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
parrot.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
parrot.bind("@{work}/parrots.sock")
pathlib.Path("@{work}/aviary.ready").touch()
last = f"@{work}/@{nests}/nest-{COUNT - 1}"
while not os.path.exists(last):
    time.sleep(0.02)
time.sleep(0.05)
words = ["hello", "pretty", "biscuit", "captain", "shiver", "timbers", "ahoy", "cracker"]
while True:
    speaking = chance.sample(range(COUNT), @{burst})
    for nest in speaking:
        say = f"{nest} {chance.choice(words)} {chance.uniform(50, 96):.1f} {chance.uniform(300, 4200):.0f}"
        try:
            parrot.sendto(say.encode(), f"@{work}/@{nests}/nest-{nest}")
        except OSError:
            time.sleep(3600)
    for _ in speaking:
        parrot.recv(256)
    if @{quiet_s}:
        time.sleep(@{quiet_s})
