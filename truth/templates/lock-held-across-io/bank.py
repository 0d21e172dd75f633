# Says what the rates are, after a while.
import random
import socketserver
import time


class Ask(socketserver.StreamRequestHandler):
    def handle(self):
        for line in self.rfile:
            time.sleep(@{delay} / 1000 * random.uniform(0.8, 1.2))
            self.wfile.write(b"%.4f\n" % random.uniform(0.5, 2))


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


Server(("127.0.0.1", @{port}), Ask).serve_forever()
