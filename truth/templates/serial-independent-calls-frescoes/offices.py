"""Insurer, customs, carrier, restorer and lender: each has its own door, and says its terms after it has looked them up."""
import hashlib
import socketserver
import threading
import time


class Desk(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True

    def handle(self):
        for ask in self.rfile:
            office = self.server.server_address[1]
            pause = @{delay_ms} / 1000 * (0.8 + office % 5 / 10)
            time.sleep(pause)
            self.wfile.write(b"terms " + hashlib.md5(ask).hexdigest()[:12].encode() + b"\n")


class Door(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True


for port in (@{p1}, @{p2}, @{p3}, @{p4}):
    threading.Thread(target=Door(("127.0.0.1", port), Desk).serve_forever, daemon=True).start()
Door(("127.0.0.1", @{p5}), Desk).serve_forever()
