"""The gondolas: each has a line for its door, its grip, its wind gauge, and so on. A telegram is 32 bytes, its answer 8."""
import pathlib
import random
import socket
import time

chance = random.Random(11)
pathlib.Path("@{work}/ropeway.ready").touch()


def line(gondola):
    while True:
        try:
            one = socket.create_connection(("127.0.0.1", @{port}))
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return one
        except ConnectionRefusedError:
            time.sleep(0.02)


def telegram(gondola, at):
    return f"{gondola:4d};{at:4d};{chance.uniform(0, 22):7.3f};{chance.uniform(0, 6):7.3f};".encode().ljust(31) + b"\n"


try:
    lines = [[line(g) for _ in range(@{lines})] for g in range(@{gondolas})] if @{stay} else []
    while True:
        speaking = []
        for gondola in chance.sample(range(@{gondolas}), min(@{window}, @{gondolas})):
            at = chance.randrange(@{lines})
            one = lines[gondola][at] if lines else line(gondola)
            one.sendall(telegram(gondola, at))
            speaking.append(one)
        for one in speaking:
            if not one.recv(8):
                raise ConnectionResetError
            if not lines:
                one.close()
        if @{pause_s}:
            time.sleep(@{pause_s})
except OSError:
    time.sleep(3600)
