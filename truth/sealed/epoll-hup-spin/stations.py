# Weather stations: each sends a value now and then; some of them have little to say.
import itertools
import random
import socketserver
import time

number = itertools.count(1)


class Station(socketserver.BaseRequestHandler):
    def handle(self):
        mine = next(number) - 1
        try:
            if 0 < mine <= @{gone}:
                time.sleep(0.1)
                self.request.sendall(b"goodbye\n")
                return
            while True:
                time.sleep(@{gap} / 1000 * random.uniform(0.5, 1.5))
                self.request.sendall(b"value %.1f\n" % random.uniform(-10, 30))
        except OSError:
            pass


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


# The one who asks whether the port is open is a station of its own, number 0.
Server(("127.0.0.1", @{port}), Station).serve_forever()
