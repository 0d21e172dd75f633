"""The bureaus that know about tides, weather, swell, boats and decompression chambers: each at a port of its own."""
import json
import random
import socketserver
import sys
import threading
import time

DELAY = float(sys.argv[1]) / 1000


class Bureau(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True

    def handle(self):
        while asked := self.rfile.readline():
            while self.rfile.readline().strip():
                pass
            time.sleep(DELAY * random.uniform(0.85, 1.15))
            place = sum(asked)
            body = json.dumps({"value": place % 17 / 4, "ref": f"r{place * 31 % 9973}", "notes": ["calm"] * (place % 5)}).encode()
            head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
            self.wfile.write(head + body)


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 64


servers = [Server(("127.0.0.1", int(port)), Bureau) for port in sys.argv[2:]]
for server in servers[1:]:
    threading.Thread(target=server.serve_forever, daemon=True).start()
servers[0].serve_forever()
