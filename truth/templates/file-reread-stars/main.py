"""The star catalogue of an observatory, for its telescopes: GET /stars/N says where a star is."""
import bisect
import json
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

RECORD, NAME, PIECE = 64, 11, @{piece}


class Catalogue:
    def __init__(self, path):
        self.fd = os.open(path, os.O_RDONLY)
        size = os.fstat(self.fd).st_size
        self.count, self.held = size // RECORD, None
        if @{held}:
            with open(path, "rb") as file:
                self.held = file.read()

    def __len__(self):
        return self.count

    def __getitem__(self, number):
        return self.held[number * RECORD:(number + 1) * RECORD]

    def find(self, name):
        if self.held is None:
            return self.@{fn}(name)
        # They are in the order of their names.
        at = bisect.bisect_left(self, name, key=lambda star: star[:NAME])
        return self[at] if at < self.count else None

    def @{fn}(self, name):
        offset = 0
        while piece := os.pread(self.fd, PIECE, offset):
            at = piece.find(name)
            if at >= 0:
                return piece[at:at + RECORD]
            offset += len(piece)
        return None


class Telescope(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def do_GET(self):
        number = int(self.path.rpartition("/")[2])
        # The stars of the programme are all over the sky.
        found = CATALOGUE.find(b"HX%09d" % (number * 104_729 % len(CATALOGUE) * 3 + 3))
        if found is None:
            return self.send_error(404)
        name, right, declination, magnitude, parallax, kind = found.decode().split()
        star = {"name": name, "ra": float(right), "dec": float(declination), "mag": float(magnitude), "plx": float(parallax), "class": kind}
        body = json.dumps(star).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


CATALOGUE = Catalogue("@{work}/@{folder}/@{catalogue}")
ThreadingHTTPServer(("127.0.0.1", @{port}), Telescope).serve_forever()
