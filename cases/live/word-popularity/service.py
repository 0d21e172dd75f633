"""Tells how often words occur, as the service of source case 003: service.py PORT FOLDER [memory]. Each request is served by a
thread of its own, which writes 300 texts to files, reads them all back, and removes them; with `memory` they stay in memory."""
import http.server
import pathlib
import random
import shutil
import sys
import uuid

TEXTS = 300
FOLDER = pathlib.Path(sys.argv[2])
IN_MEMORY = sys.argv[3:] == ["memory"]


def make_texts():
    for number in range(TEXTS):
        yield number, random.choice(["cat ", "dog ", "owl ", "fox "]) * random.randint(2_000, 6_000)


def popularity():
    """The longest count of one word."""
    if IN_MEMORY:
        return max(text.count(" ") for _, text in make_texts())
    folder = FOLDER / str(uuid.uuid4())
    folder.mkdir()
    for number, text in make_texts():
        (folder / f"{number}.txt").write_text(text)
    most = max((folder / f"{number}.txt").read_text().count(" ") for number in range(TEXTS))
    shutil.rmtree(folder)
    return most


class Popularity(http.server.BaseHTTPRequestHandler):
    disable_nagle_algorithm = True
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        body = b"%d\n" % popularity()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Popularity).serve_forever()
