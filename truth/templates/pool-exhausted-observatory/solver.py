# Matches the stars of a photograph with the sky: a line with the brightest ones comes, and a line with the place and the angle goes.
import random
import socketserver
import time


class Solver(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True

    def handle(self):
        for line in self.rfile:
            words = line.split()
            if not words or words[0] != b"SOLVE":
                return
            time.sleep(@{delay} / 1000 * random.uniform(0.8, 1.25))
            place = sum(float(word) for word in words[2:]) % 360
            self.wfile.write(b"OK %s %.5f %.5f %.3f\n" % (words[1], place, place / 4 - 45, place % 7))


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 64


Server(("127.0.0.1", @{solver}), Solver).serve_forever()
