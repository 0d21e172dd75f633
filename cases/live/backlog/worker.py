"""A worker that takes one task after the other: worker.py pipe|unix|tcp|own PAUSE [WHERE]. PAUSE are seconds that a task takes, in which
it does nothing (a limit of a rate, say). `own`: it takes its tasks from a pipe that it holds both ends of."""
import os
import socket
import sys
import time

kind, pause = sys.argv[1], float(sys.argv[2])
if kind in ("pipe", "own"):
    fd = 0
    if kind == "own":
        fd, into = os.pipe()
        if os.fork() == 0:
            # Who gives the tasks; the worker has forgotten to close that end.
            while True:
                os.write(into, b"x" * 64)
                time.sleep(0.02)
    while os.read(fd, 64):
        time.sleep(pause)
    sys.exit()
where = sys.argv[3]
listener = socket.socket(socket.AF_UNIX) if kind == "unix" else socket.socket()
listener.bind(where if kind == "unix" else ("127.0.0.1", int(where)))
listener.listen(512)
while True:
    client, _ = listener.accept()
    client.recv(64)
    time.sleep(pause)
    client.sendall(b"done")
    client.close()
