"""Takes orders of a shop by HTTP, and appends each to its journal. PRICES=each reads the list of prices for each order, else once."""

import json
import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

FOLDER, PORT = sys.argv[1], int(sys.argv[2])
journal = open(os.path.join(FOLDER, "orders.journal"), "ab", buffering=0)


def read_prices():
    with open(os.path.join(FOLDER, "prices.json")) as file:
        return json.load(file)


EACH = os.environ.get("PRICES") == "each"
PRICES = read_prices()


class Orders(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Head and body of an answer in one piece: the second of two small ones would wait for the acknowledgement of the first.
    wbufsize = -1

    def do_POST(self):
        order = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        prices = read_prices() if EACH else PRICES
        order["total"] = sum(prices[article] * count for article, count in order["items"])
        journal.write(json.dumps(order).encode() + b"\n")
        answer = json.dumps({"total": order["total"]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("0.0.0.0", PORT), Orders).serve_forever()
