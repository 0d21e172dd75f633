# Knows how many there are of each article.
import random
import socketserver
import time


class Ask(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True

    def handle(self):
        for line in self.rfile:
            time.sleep(@{delay} / 1000 * random.uniform(0.8, 1.2))
            self.wfile.write(b"%d pieces\n" % random.randrange(100))


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 100


Server(("127.0.0.1", @{store}), Ask).serve_forever()
