# The bus of the probes in the tanks: a line asks one of them, and it answers with a line.
import random
import socketserver
import threading
import time

first = []
lock = threading.Lock()


class Bus(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True

    def handle(self):
        for line in self.rfile:
            with lock:
                first.append(time.monotonic())
                del first[1:]
            tank = int(line.split()[1])
            if @{mute} and tank % @{mute_of} == 3 and time.monotonic() - first[0] > @{mute_after}:
                continue
            time.sleep(@{answering} / 1000 * random.uniform(0.7, 1.3))
            self.wfile.write(b"tank %d warm %.2f salt %.2f acid %.2f\n" % (tank, random.uniform(22, 26), random.uniform(33, 36), random.uniform(7.9, 8.4)))


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


Server(("127.0.0.1", @{probes}), Bus).serve_forever()
