# The registry of seed lots: greets who comes, wants to know who it is, and gives each lot its accession number.
import itertools
import socketserver
import time

numbers = itertools.count(40_001)


class Session(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True

    def handle(self):
        time.sleep(@{greets} / 1000)
        self.wfile.write(b"220 registry of seed lots, who is it?\r\n")
        name = None
        for line in self.rfile:
            verb, _, rest = line.decode().strip().partition(" ")
            if verb == "HELO":
                name = rest
                self.wfile.write(b"250 good day, " + name.encode() + b"\r\n")
            elif verb == "LOT" and name:
                time.sleep(@{enters} / 1000)
                self.wfile.write(b"251 ACC-%d\r\n" % next(numbers))
            elif verb == "QUIT":
                self.wfile.write(b"221 good bye\r\n")
                return
            else:
                self.wfile.write(b"503 not now\r\n")


class Registry(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True
    request_queue_size = 64


Registry(("127.0.0.1", @{port}), Session).serve_forever()
