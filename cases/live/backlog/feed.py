"""Gives tasks: feed.py pipe|unix|tcp EVERY [WHERE], one each EVERY seconds, whether or not the last one is done."""
import socket
import sys
import time

kind, every = sys.argv[1], float(sys.argv[2])
asked = []
try:
    while True:
        if kind == "pipe":
            sys.stdout.buffer.write(b"x" * 64)
            sys.stdout.flush()
        else:
            where = sys.argv[3]
            asked.append(socket.socket(socket.AF_UNIX) if kind == "unix" else socket.socket())
            asked[-1].connect(where if kind == "unix" else ("127.0.0.1", int(where)))
            asked[-1].sendall(b"x" * 64)
        time.sleep(every)
except OSError:
    pass
