"""Gift vouchers: an order gets its vouchers, each with a code that nobody can guess."""
import hashlib
import http.server
import itertools
import json
import re
import secrets
import subprocess
import threading

SHOP = "@{shop}"
ROUTE = re.compile(r"/orders/(\d+)/vouchers")
VALUES = (1000, 1500, 2500, 5000, 10000)


def @{fn}(size):
    done = subprocess.run(["@{tool}", "rand", "-hex", str(size)], capture_output=True, text=True, check=True)
    return done.stdout.strip()


class Vouchers:
    def __init__(self):
        self.orders = itertools.count(1)
        self.lock = threading.Lock()
        self.series = secrets.token_hex(4)

    def of(self, order):
        count = next(self.orders)
        if @{series} and count % (@{series} or 1) == 0:
            fresh = @{fn}(4)
            with self.lock:
                self.series = fresh
        draw = @{fn} if "@{codes}" == "tool" else secrets.token_hex
        return [self.voucher(order, place, draw(@{letters})) for place in range(@{vouchers})]

    def voucher(self, order, place, code):
        check = hashlib.blake2s(f"{SHOP}/{self.series}/{code}".encode(), digest_size=3).hexdigest()
        return {"code": code, "cents": VALUES[(order + place) % len(VALUES)], "check": check}


class Desk(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    vouchers = Vouchers()

    def do_GET(self):
        found = ROUTE.fullmatch(self.path)
        if not found:
            self.send_error(404)
            return
        order = int(found[1])
        body = json.dumps({"order": order, "vouchers": self.vouchers.of(order)}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def setup(self):
        super().setup()
        self.wfile = self.connection.makefile("wb", 8192)

    def log_message(self, *words):
        pass


class Server(http.server.ThreadingHTTPServer):
    disable_nagle_algorithm = True
    daemon_threads = True


Server(("127.0.0.1", @{port}), Desk).serve_forever()
