"""The office of a quarry's weighbridge: a process for each terminal, one for the cashier, one for the cabin that talks to the scale."""
import bisect
import hashlib
import multiprocessing
import socket
import socketserver
from multiprocessing.connection import Client, Listener, wait

DESK = "@{work}/@{desk}"
LIMITS = [7500, 12000, 18000, 26000, 40000]


def cabin(line):
    """Asks the scale, for whoever is at the other end."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as scale:
        scale.connect(("127.0.0.1", @{scale}))
        while True:
            scale.send(b"%d\n" % line.recv())
            line.send(int(scale.recv(200)))


class Cashier:
    def __init__(self, desk, cabin_line):
        self.desk, self.cabin = desk, cabin_line

    def price(self, truck):
        self.cabin.send(truck)
        kilos = self.cabin.recv()
        return {"truck": truck, "kilos": kilos, "cents": 900 + 350 * bisect.bisect_left(LIMITS, kilos)}

    def work(self):
        """Takes one weighing after the other, as there is one scale."""
        door = self.desk._listener._socket
        terminals = {}
        while True:
            for ready in wait([door, *terminals]):
                if ready is door:
                    terminals[self.desk.accept()] = True
                    continue
                try:
                    ready.send(self.price(ready.recv()))
                except (EOFError, OSError):
                    del terminals[ready]


def @{fn}(desk, truck):
    desk.send(truck)
    return desk.recv()


def mark(note):
    digest = note.encode()
    for _ in range(@{rounds}):
        digest = hashlib.sha256(digest).digest()
    return digest.hex()[:16]


class Terminal(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True

    def handle(self):
        with Client(DESK, "AF_UNIX") as desk:
            for line in self.rfile:
                one = @{fn}(desk, int(line.split()[1]))
                note = f"truck {one['truck']}: {one['kilos']} kg, {one['cents'] / 100:.2f} euro"
                self.wfile.write(f"{note}, mark {mark(note)}\n".encode())


class Office(socketserver.ForkingTCPServer):
    allow_reuse_address = True
    request_queue_size = 32
    max_children = 60


def main():
    ours, theirs = multiprocessing.Pipe()
    multiprocessing.Process(target=cabin, args=(theirs,), daemon=True).start()
    with Listener(DESK, "AF_UNIX", backlog=32) as desk:
        multiprocessing.Process(target=Cashier(desk, ours).work, daemon=True).start()
        Office(("127.0.0.1", @{port}), Terminal).serve_forever()


main()
