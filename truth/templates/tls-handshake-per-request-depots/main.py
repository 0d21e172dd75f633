"""Tells the scanners of a parcel service where a parcel goes next."""
import heapq
import http.server
import ssl

DEPOTS = 40
ROADS = {n: [((n * 7 + i * 11) % DEPOTS, 20 + (n * i * 13) % 90) for i in range(1, 4)] + [((n + 1) % DEPOTS, 60)] for n in range(DEPOTS)}


def way(here, there):
    """The first stop on the shortest way."""
    best, todo = {here: 0}, [(0, here, None)]
    while todo:
        far, depot, first = heapq.heappop(todo)
        if depot == there:
            return first
        for neighbour, minutes in ROADS[depot]:
            if far + minutes < best.get(neighbour, 10 ** 9):
                best[neighbour] = far + minutes
                heapq.heappush(todo, (far + minutes, neighbour, neighbour if first is None else first))
    return None


class Table:
    def __init__(self):
        self.stops = {}

    def next(self, parcel):
        here, there = 3, int(parcel[1:]) % @{stops}
        if there not in self.stops:
            self.stops[there] = way(here, there)
        return self.stops[there]


class Scanner(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    table = Table()

    def do_POST(self):
        parcels = self.rfile.read(int(self.headers["Content-Length"])).decode().split(",")
        told = "".join(f"{parcel} to depot {self.table.next(parcel)};" for parcel in parcels).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(told)))
        if "@{hold}" == "no":
            self.send_header("Connection", "close")
            self.close_connection = True
        self.end_headers()
        self.wfile.write(told)

    def log_message(self, text, *rest):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain("@{work}/parcels.pem", "@{work}/parcels.key")

    def finish_request(self, request, client):
        try:
            with self.context.wrap_socket(request, server_side=True) as line:
                super().finish_request(line, client)
        except OSError as error:
            print("line ended:", error, flush=True)


Scanner.wbufsize = -1
Server(("127.0.0.1", @{port}), Scanner).serve_forever()
