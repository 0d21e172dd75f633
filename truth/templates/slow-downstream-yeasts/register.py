"""The register of samples: which strain a sample is of."""
import socketserver


class Desk(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True

    def handle(self):
        for line in self.rfile:
            number = int(line.split()[1])
            self.wfile.write(b"strain Y%03d\n" % (number * 31 % @{strains}))


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True


Server(("127.0.0.1", @{register}), Desk).serve_forever()
