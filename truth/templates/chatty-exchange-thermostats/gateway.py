"""The gateway of a block of flats: takes programmes for its thermostats in pieces, and acknowledges each. A piece: "P" flat (2) offset (4) length (2) bytes."""
import socket
import struct
import threading
import time
import zlib

HEAD = struct.Struct(">cHIH")


def whole(stream, count):
    data = stream.read(count)
    if len(data) < count:
        raise EOFError
    return data


def serve(caller):
    memory = {}
    with caller, caller.makefile("rb") as stream:
        try:
            while True:
                kind, flat, offset, length = HEAD.unpack(whole(stream, HEAD.size))
                if kind == b"P":
                    memory.setdefault(flat, bytearray())[offset:offset + length] = whole(stream, length)
                    time.sleep(@{radio} / 1000)
                    caller.sendall(struct.pack(">cI", b"A", offset + length))
                else:
                    caller.sendall(struct.pack(">cI", b"C", zlib.crc32(bytes(memory.pop(flat, b"")))))
        except (EOFError, OSError):
            pass


def main():
    door = socket.create_server(("127.0.0.1", @{gateway}))
    while True:
        caller, _ = door.accept()
        caller.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=serve, args=(caller,), daemon=True).start()


main()
