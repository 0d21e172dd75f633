"""Lists of articles, as compressed CSV, for the tills of all shops: a thread for each till."""
import gzip
import http.server
import random
import threading
import time

WORDS = ["fine", "large", "blue", "with lid", "of steel", "for two", "new"]


class Shop:
    def __init__(self, number):
        self.chance, self.lock = random.Random(number), threading.Lock()
        self.rows = [self.row(number * 100000 + n) for n in range(@{rows} * 8)]
        self.made, self.body = None, b""

    def row(self, number):
        text = ""
        while len(text) < @{width}:
            text += self.chance.choice(WORDS) + " "
        return f"{number};{self.chance.randrange(90000) / 100};{self.chance.randrange(40)};{text}"

    def change(self):
        at = self.chance.randrange(len(self.rows))
        self.rows[at] = self.row(at)


SHOPS = [Shop(number) for number in range(@{shops})]


def @{fn}(shop):
    with shop.lock:
        if shop.made is not None and time.monotonic() - shop.made < @{kept}:
            return shop.body
        shop.change()
        text = "\n".join(shop.rows).encode()
    body = gzip.compress(text, 1) if "@{effort}" == "little" else gzip.compress(text)
    with shop.lock:
        shop.made, shop.body = time.monotonic(), body
    return body


class Till(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def do_GET(self):
        body = @{fn}(SHOPS[int(self.path.rpartition("/")[2]) % len(SHOPS)])
        self.send_response(200)
        self.send_header("Content-Type", "text/csv")
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        pass


if @{kept} > 60:
    for one in SHOPS:
        @{fn}(one)
http.server.ThreadingHTTPServer(("127.0.0.1", @{port}), Till).serve_forever()
