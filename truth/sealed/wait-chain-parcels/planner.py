"""Plans where a parcel goes: "plan N" is answered with its tour and its shelf, which the depot knows."""
import socket
import socketserver


def tour(parcel):
    return sum((parcel * 7919 + stop * 104729) % 31 for stop in range(30)) % 12


class Desk(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True

    def handle(self):
        with socket.create_connection(("127.0.0.1", @{depot})) as depot, depot.makefile("rb") as shelves:
            depot.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for line in self.rfile:
                parcel = int(line.split()[1])
                depot.sendall(b"place %d\n" % parcel)
                self.wfile.write(b"%d %d\n" % (tour(parcel), int(shelves.readline())))


class Desks(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 64


with Desks(("127.0.0.1", @{planner}), Desk) as desks:
    desks.serve_forever()
