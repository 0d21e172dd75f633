"""Three clients that ask for baskets, with pauses: clients.py PORT SECONDS."""
import socket
import struct
import sys
import threading
import time

END = time.monotonic() + float(sys.argv[2])


def read(stream, size):
    got = b""
    while len(got) < size:
        part = stream.recv(size - len(got))
        if not part:
            raise ConnectionError
        got += part
    return got


def asks(number):
    stream = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
    while time.monotonic() < END:
        stream.sendall(struct.pack(">IQ", 8, number))
        (size,) = struct.unpack(">I", read(stream, 4))
        assert len(struct.unpack(f">{size // 8}Q", read(stream, size))) == 25
        number += 3
        time.sleep(0.03)


threads = [threading.Thread(target=asks, args=(number,)) for number in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
