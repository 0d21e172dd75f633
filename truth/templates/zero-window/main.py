import socket

import json
import time

now = time.monotonic


def wait_until(due):
    time.sleep(max(0.0, due - now()))


def report(units, busy, culprit):
    with open("@{report}", "w") as out:
        json.dump({"units": units, "seconds": busy, "culprit": culprit}, out)

class Export:
    def __init__(self):
        self.socket = socket.create_connection(("127.0.0.1", @{port}))
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 65536)
        self.sending = 0.0

    def @{fn}(self, batch):
        rows = b"".join(b"%012d;%08d;item;%06d\n" % (batch, n, n * 7) for n in range(@{used} * 32))
        start = now()
        self.socket.sendall(rows)
        self.sending += now() - start


def main():
    export = Export()
    units, busy = 0, 0.0
    began = now()
    while now() - began < @{seconds}:
        start = now()
        export.@{fn}(units)
        units += 1
        busy += now() - start
        wait_until(began + units / @{rate})
    report(units, busy, export.sending)


main()
