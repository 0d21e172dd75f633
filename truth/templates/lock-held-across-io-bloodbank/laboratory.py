# The laboratory's list of released units: "group NAME" is answered by "NAME UNITS OLDEST".
import random
import socketserver
import time


class Bench(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True

    def handle(self):
        for line in self.rfile:
            name = line.split()[1].decode()
            time.sleep(@{takes} / 1000 * random.uniform(0.8, 1.2))
            self.wfile.write(b"%s %d %d\n" % (name.encode(), random.randint(3000, 9000), random.randint(1, 35)))


class Laboratory(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True


Laboratory(("127.0.0.1", @{lab}), Bench).serve_forever()
