"""The registry of bells: gives out their numbers."""
import random
import socketserver
import threading
import time

chance, lock, given = random.Random(3), threading.Lock(), [10000]


class Desk(socketserver.StreamRequestHandler):
    def handle(self):
        for line in self.rfile:
            time.sleep(@{takes} / 1000 * chance.uniform(0.8, 1.2))
            count = int(line.split()[1])
            with lock:
                first = given[0]
                given[0] += count
            self.wfile.write(b"%d %d\n" % (first, first + count))


class Server(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True


Server("@{work}/@{desk}", Desk).serve_forever()
