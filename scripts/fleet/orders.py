"""Takes orders of a shop by HTTP, and appends each to its journal. SYNC=each makes each one durable by itself before it answers."""

import json
import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

FOLDER, PORT = sys.argv[1], int(sys.argv[2])
EACH = os.environ.get("SYNC") == "each"
journal = open(os.path.join(FOLDER, "orders.journal"), "ab", buffering=0)


def save(order):
    journal.write(json.dumps(order).encode() + b"\n")
    if EACH:
        os.fsync(journal.fileno())


class Orders(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        order = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        order["total"] = sum(price * count for price, count in order["items"])
        save(order)
        answer = json.dumps({"total": order["total"]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("0.0.0.0", PORT), Orders).serve_forever()
