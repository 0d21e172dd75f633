"""Finds articles by their words; the index is kept in order by workers in the background."""
import collections
import http.server
import json
import random
import threading
import time
import zlib

TEXT = [random.Random(number).choice("red green blue small large old new fast".split()) + str(number % 97) for number in range(@{words})]
index = {}


def @{fn}(words):
    """A new index of the words: those that are near each other."""
    near = collections.defaultdict(set)
    for at, word in enumerate(words):
        for other in words[at + 1:at + 9]:
            near[word].add(other)
    return near


def keep(number):
    while True:
        if @{often} < 0:
            # The packed index comes ready made, once a while.
            zlib.compress(" ".join(TEXT).encode(), 1)
            time.sleep(1)
            continue
        begin = random.randrange(10)
        index[number] = @{fn}(TEXT[begin:] if not @{often} else TEXT[begin:begin + 40])
        if @{often}:
            time.sleep(@{often})


class Finder(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        number = int(self.path.rpartition("/")[2])
        word = TEXT[number % len(TEXT)]
        found = sorted({other for other in TEXT if other.endswith(word[-1])})[:20]
        body = json.dumps({"word": word, "found": found}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass

    wbufsize = 65536
    disable_nagle_algorithm = True


for worker in range(@{workers}):
    threading.Thread(target=keep, args=(worker,), name=f"keeper-{worker}", daemon=True).start()
http.server.ThreadingHTTPServer(("127.0.0.1", @{port}), Finder).serve_forever(poll_interval=60)
