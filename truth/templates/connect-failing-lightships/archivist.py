"""Keeps the entries of the lightships: one line each, and says that it has them."""
import collections
import socketserver

kept = collections.deque(maxlen=1000)


class Ship(socketserver.StreamRequestHandler):
    def handle(self):
        for line in self.rfile:
            kept.append(line)
            self.wfile.write(b"kept %d\n" % len(line))


class Archivist(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True


Archivist("@{work}/@{listening}", Ship).serve_forever()
