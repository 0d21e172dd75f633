"""Plans the tours of a delivery service: in which order the stops are best, by the minutes of a map service."""
import contextlib
import logging
import queue
import socket
import socketserver

log = logging.getLogger("tours")


class Maps:
    """Connections to the map service, as many as were opened at the start."""

    def __init__(self, size):
        self.free = queue.Queue()
        for _ in range(size):
            self.free.put(self.connect())

    @staticmethod
    def connect():
        connection = socket.create_connection(("127.0.0.1", @{maps}))
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection, connection.makefile("rb")

    @contextlib.contextmanager
    def one(self):
        connection = self.free.get()
        try:
            yield connection
        finally:
            self.free.put(connection)

    def @{fn}(self, number):
        with self.one() as (connection, answers):
            connection.sendall(f"minutes {number}\n".encode())
            return [int(word) for word in answers.readline().split()]


def order_of(minutes):
    """From each stop to the nearest that was not yet visited."""
    left, here, order, total = set(range(len(minutes))), 0, [], 0
    while left:
        there = min(left, key=lambda stop: abs(minutes[stop] - minutes[here]))
        total += abs(minutes[there] - minutes[here]) + 2
        left.remove(there)
        order.append(there)
        here = there
    return order, total


class Driver(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True

    def handle(self):
        for line in self.rfile:
            try:
                number = int(line.split()[1])
            except (IndexError, ValueError):
                self.wfile.write(b"error: tour NUMBER\n")
                continue
            order, total = order_of(self.server.maps.@{fn}(number))
            log.debug("tour %d takes %d minutes", number, total)
            self.wfile.write(f"{number} {total} {','.join(map(str, order))}\n".encode())


class Planner(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 64

    def __init__(self):
        self.maps = Maps(@{pool})
        super().__init__(("127.0.0.1", @{port}), Driver)


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO)
    Planner().serve_forever()
