"""Weighs payments. A frame: how long the rest is (4 bytes), its kind (1), the question's number (4), then floats.
Kinds: 1 ask, 2 taken, 3 answer, 4 subscribe, 5 the rules have changed."""
import random
import socket
import struct
import threading
import time

ASK, TAKEN, ANSWER, SUBSCRIBE, NEWS = range(1, 6)


def frame(kind, number, *values):
    return struct.pack("<IBI%df" % len(values), 5 + 4 * len(values), kind, number, *values)


def serve(client):
    stream = client.makefile("rb")
    try:
        while head := stream.read(9):
            size, kind, number = struct.unpack("<IBI", head)
            stream.read(size - 5)
            if kind == SUBSCRIBE:
                while True:
                    time.sleep((@{news} or 60) * random.uniform(0.7, 1.3))
                    client.sendall(frame(NEWS, number, random.random(), random.random()))
            client.sendall(frame(TAKEN, number))
            time.sleep(@{delay} / 1000 * random.uniform(0.7, 1.4))
            client.sendall(frame(ANSWER, number, random.random()))
    except OSError:
        pass
    stream.close()
    client.close()


door = socket.socket(socket.AF_UNIX)
door.bind("@{work}/@{sock}")
door.listen(50)
while True:
    threading.Thread(target=serve, args=(door.accept()[0],), daemon=True).start()
