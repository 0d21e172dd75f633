"""The insurers' centre: verifies prescriptions, one after the other. A message is a length, a number, and a text; the answer has the number of the question."""
import queue
import socket
import struct
import threading
import time
import zlib

HEAD = struct.Struct(">II")
waiting = queue.Queue(@{room})


def verify():
    while True:
        gateway, number, text = waiting.get()
        time.sleep((0.1 if text == b"pulse" else @{took}) / 1000)
        answer = b"%s %08x" % (b"accepted" if number % 23 else b"refused", zlib.crc32(text))
        try:
            gateway.sendall(HEAD.pack(len(answer), number) + answer)
        except OSError:
            pass


def read(gateway):
    gateway.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with gateway.makefile("rb") as stream:
        while head := stream.read(HEAD.size):
            length, number = HEAD.unpack(head)
            try:
                waiting.put_nowait((gateway, number, stream.read(length)))
            except queue.Full:
                pass


threading.Thread(target=verify, daemon=True).start()
door = socket.create_server(("127.0.0.1", @{centre}), backlog=20)
while True:
    threading.Thread(target=read, args=(door.accept()[0],), daemon=True).start()
