# Of the weather office: the soil service ("cell N" gets "MOISTURE EVAPORATION"), and the frost watch ("watch" gets a line when there is news).
import random
import socketserver
import threading
import time


class Soil(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True

    def handle(self):
        for line in self.rfile:
            cell = int(line.split()[1])
            time.sleep(@{takes} / 1000 * random.uniform(0.75, 1.25))
            self.wfile.write(b"%.3f %.3f\n" % (0.2 + cell * 7 % 10 / 20, 1.5 + cell * 3 % 7 / 5))


class Frost(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True

    def handle(self):
        for _ in self.rfile:
            time.sleep(random.uniform(1.5, 6))
            self.wfile.write(b"no frost, %d degrees\n" % random.randint(3, 15))


class Office(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True
    request_queue_size = 64


threading.Thread(target=Office(("127.0.0.1", @{soil}), Soil).serve_forever, daemon=True).start()
Office(("127.0.0.1", @{frost}), Frost).serve_forever()
