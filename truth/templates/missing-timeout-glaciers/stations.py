"""Three stations on a glacier. `SAMPLE transect` is answered by `temperature height battery`; `ALARMS` by a line for each avalanche."""
import random
import socketserver
import threading
import time

first_call = []


class Station(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True

    def handle(self):
        mast = self.server.server_address[1] == @{mast}
        if mast and not first_call:
            first_call.append(time.monotonic())
        opened = time.monotonic()
        for line in self.rfile:
            word, *rest = line.split()
            if word == b"ALARMS":
                time.sleep(10000)
            down = first_call[0] + @{restart} * @{seconds} if mast else 1e18
            if opened < down <= time.monotonic():
                # What was open before the restart is known to nobody.
                time.sleep(10000)
            time.sleep(@{taking} / 1000 * random.uniform(0.7, 1.3))
            number = int(rest[0])
            self.wfile.write(b"%d %d %d\n" % (-number % 23 - 2, 2400 + number * 37 % 310, 60 + number % 40))


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True


for port in (@{moraine}, @{mast}, @{stakes}):
    server = Server(("127.0.0.1", port), Station)
    threading.Thread(target=server.serve_forever).start()
