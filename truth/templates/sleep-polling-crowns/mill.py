# The milling process: cuts a crown along its path, and leaves in a file how long that took and which bur it wore.
import os
import random
import socketserver
import time

os.makedirs("@{work}/@{results}", exist_ok=True)


class Mill(socketserver.StreamRequestHandler):
    def handle(self):
        for line in self.rfile:
            command, crown, way, mode = line.split()
            time.sleep(@{cutting} / 1000 * random.uniform(0.7, 1.4))
            path = "@{work}/@{results}/crown-%d" % int(crown)
            with open(path + ".part", "w") as out:
                out.write("crown %d minutes %.2f bur %d\n" % (int(crown), float(way) / 60, int(crown) % 5))
            os.rename(path + ".part", path + ".result")
            if mode == b"tell":
                self.wfile.write(b"done %s\n" % crown)


class Server(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True


Server("@{work}/@{mill}", Mill).serve_forever()
