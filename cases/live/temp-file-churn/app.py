"""Pops words: each request writes its words to files, reads them back and removes them: app.py PORT [memory].
With `memory` they never leave it."""
import http.server
import pathlib
import random
import shutil
import sys
import uuid

WORDS = 200
IN_MEMORY = sys.argv[2:] == ["memory"]


def make_words():
    for number in range(WORDS):
        yield number, random.choice("abcdefgh") * random.randint(100_000, 300_000)


def popular():
    """The length of the longest word."""
    if IN_MEMORY:
        return max(len(word) for _, word in make_words())
    folder = pathlib.Path("/tmp") / str(uuid.uuid4())
    folder.mkdir()
    for number, word in make_words():
        (folder / f"{number}.txt").write_text(word)
    longest = max(len((folder / f"{number}.txt").read_text()) for number in range(WORDS))
    shutil.rmtree(folder)
    return longest


class Pop(http.server.BaseHTTPRequestHandler):
    disable_nagle_algorithm = True
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        body = b"%d\n" % popular()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Pop).serve_forever()
