# Takes readings: a line each, and says that it has it.
import socketserver


class Take(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True

    def handle(self):
        try:
            for line in self.rfile:
                self.wfile.write(b"ok %d\n" % len(line))
        except OSError:
            pass


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 100


Server(("0.0.0.0", @{port}), Take).serve_forever()
