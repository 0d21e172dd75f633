"""The register of ships: "ship N" is answered by length, beam, and draught in centimetres; "fleet N" by those of the first N ships, a line each, at once."""
import socketserver
import time


def ship(number):
    return b"%d %d %d %d\n" % (number, 4000 + number * 7919 % 26000, 800 + number * 104729 % 3400, 250 + number * 1299709 % 1150)


class Office(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True

    def handle(self):
        for line in self.rfile:
            what, number = line.split()
            if what == b"fleet":
                self.wfile.write(b"".join(map(ship, range(int(number)))))
            else:
                time.sleep(@{took} / 1000)
                self.wfile.write(ship(int(number)))


class Register(socketserver.ThreadingTCPServer):
    allow_reuse_address, daemon_threads = True, True


with Register(("127.0.0.1", @{register}), Office) as register:
    register.serve_forever()
