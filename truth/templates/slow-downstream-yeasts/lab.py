"""The counting lab. "count STRAIN": cells in a millilitre. "news": answers when there is something about a tank."""
import random
import socketserver
import time


class Bench(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True

    def handle(self):
        chance = random.Random(7)
        for line in self.rfile:
            if line.startswith(b"news"):
                time.sleep(@{tank} * chance.uniform(0.6, 1.4))
                self.wfile.write(b"tank %d\n" % chance.randrange(20))
                continue
            time.sleep(@{delay} / 1000 * chance.uniform(0.7, 1.3))
            self.wfile.write(b"cells %d\n" % (10000 + sum(line) * 37 + chance.randrange(900)))


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True


Server(("127.0.0.1", @{lab}), Bench).serve_forever()
