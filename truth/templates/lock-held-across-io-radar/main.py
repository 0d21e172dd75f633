"""A rain radar: "rain N" is answered by how much rain there is in direction N. Each picture goes to the archive."""
import itertools
import os
import pathlib
import socketserver
import sys
import threading
import time

BEAMS, KEPT = 64, 4
ARCHIVE = pathlib.Path("@{work}/@{archive}")


class Radar:
    def __init__(self):
        self.@{lock} = threading.Lock()
        echoes = bytes(range(0, 256, 3)) * (@{kb} * 1024 // 86 + 1)
        self.beams = [echoes[direction : direction + @{kb} * 1024] for direction in range(BEAMS)]

    def @{look}(self, direction):
        with self.@{lock}:
            return self.beams[direction % BEAMS]

    def turn(self, sweep):
        """The antenna has turned on: one beam is new."""
        beam = self.@{look}(sweep * 7)
        fresh = beam[3:] + beam[:3]
        with self.@{lock}:
            self.beams[sweep * 7 % BEAMS] = fresh

    def @{fn}(self, sweep):
        with self.@{lock}:
            if @{inside}:
                store(sweep, self.beams)
                return
            picture = list(self.beams)
        store(sweep, picture)


def path(sweep):
    return ARCHIVE / f"sweep-{sweep:06}.vol"


def store(sweep, picture):
    with open(path(sweep), "wb", buffering=0) as file:
        for beam in picture:
            file.write(beam)
        os.fsync(file.fileno())


def archive(radar):
    for sweep in itertools.count(1):
        radar.turn(sweep)
        try:
            radar.@{fn}(sweep)
        except OSError as error:
            print(f"sweep {sweep}: {error}", file=sys.stderr)
        if sweep > KEPT:
            path(sweep - KEPT).unlink(missing_ok=True)
        time.sleep(@{every} / 1000)


class Tower(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True

    def handle(self):
        for line in self.rfile:
            direction = int(line.split()[1])
            beam = self.server.radar.@{look}(direction)
            echoes = beam[:: max(1, len(beam) // @{gates})]
            rain = sum(10 ** (echo / 160) * 0.0365 for echo in echoes)
            self.wfile.write(b"%d %.2f mm\n" % (direction, rain / len(echoes)))


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 64


def main():
    with Server(("127.0.0.1", @{port}), Tower) as server:
        server.radar = Radar()
        threading.Thread(target=archive, args=(server.radar,), name="archive", daemon=True).start()
        server.serve_forever()


main()
