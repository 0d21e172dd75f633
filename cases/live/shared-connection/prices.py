"""Tells prices, 20 ms each, to any number of clients at a time: prices.py PORT."""
import socketserver
import sys
import time


class Prices(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True

    def handle(self):
        for _ in self.rfile:
            time.sleep(0.02)
            self.wfile.write(b"12.50\n")


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True


Server(("127.0.0.1", int(sys.argv[1])), Prices).serve_forever()
