# Sends an entry to each reader every now and then.
import random
import socketserver
import time


class Reader(socketserver.BaseRequestHandler):
    def handle(self):
        n = 0
        try:
            while True:
                time.sleep(@{gap} / 1000 * random.uniform(0.5, 1.5))
                n += 1
                self.request.sendall(b"entry %d %.2f\n" % (n, random.uniform(1, 100)))
        except OSError:
            pass


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


Server(("127.0.0.1", @{port}), Reader).serve_forever()
