# The probes in the kilns: whoever listens is told the degrees of each, again and again.
import math
import socketserver
import time


class Probes(socketserver.StreamRequestHandler):
    def handle(self):
        began = time.monotonic()
        try:
            while True:
                hours = (time.monotonic() - began) * 20
                lines = [f"{kiln} {20 + 1200 * (1 - math.exp(-hours / (60 + 9 * kiln))):.2f}\n" for kiln in range(@{kilns})]
                self.wfile.write("".join(lines).encode())
                time.sleep(@{every} / 1000)
        except OSError:
            pass


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


Server(("127.0.0.1", @{probes}), Probes).serve_forever()
