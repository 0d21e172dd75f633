"""Meters at many addresses, and the way to them: meters.py PORT LOST PORT LOST. Of the first packets to a port LOST of 100 do not arrive."""
import ctypes
import random
import socket
import struct
import sys
import threading
import time


def lose(door, percent):
    """A filter on the listening socket: a SYN without ACK is dropped by chance, all else passes."""
    steps = [
        (0x30, 0, 0, 13),  # the flags of the TCP header
        (0x54, 0, 0, 0x12),
        (0x15, 0, 3, 0x02),
        (0x20, 0, 0, 0xFFFFF000 + 56),  # a random number
        (0x35, 1, 0, percent * (1 << 32) // 100),
        (0x06, 0, 0, 0),
        (0x06, 0, 0, 0xFFFFFFFF),
    ]
    code = b"".join(struct.pack("HBBI", *step) for step in steps)
    kept = ctypes.create_string_buffer(code)
    door.setsockopt(socket.SOL_SOCKET, 26, struct.pack("HP", len(steps), ctypes.addressof(kept)))


def serve(line):
    try:
        line.settimeout(20)
        with line, line.makefile("rb") as asked:
            while words := asked.readline().split():
                time.sleep(@{think_ms} / 1000 * random.uniform(0.7, 1.3))
                number = int(words[1])
                line.sendall(("values " + " ".join(str((number * 37 + i * i) % 5000) for i in range(@{values})) + "\n").encode())
    except OSError:
        pass


def listen(port, percent):
    door = socket.create_server(("0.0.0.0", port), backlog=256)
    if percent:
        lose(door, percent)
    while True:
        threading.Thread(target=serve, args=(door.accept()[0],), daemon=True).start()


one, lost, other, lost_other = map(int, sys.argv[1:])
threading.Thread(target=listen, args=(one, lost), daemon=True).start()
threading.Thread(target=listen, args=(other, lost_other), daemon=True).start()
time.sleep(0.3)
open("@{work}/meters.ready", "w").close()
time.sleep(1000)
