"""The balance of a dyehouse: tells its weight when it has come to rest."""
import random
import socketserver
import time


class Balance(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True

    def handle(self):
        for line in self.rfile:
            if line.strip():
                time.sleep(@{takes} / 1000 * random.uniform(0.8, 1.2))
                self.wfile.write(b"rest %.3f\n" % random.uniform(-0.02, 0.02))


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


Server(("127.0.0.1", @{scale}), Balance).serve_forever()
