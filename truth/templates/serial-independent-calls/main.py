import concurrent.futures
import hashlib
import http.server
import os
import socket
import threading

FLAGS = {"stock": @{one}, "price": @{two}, "rating": @{three}, "delivery": @{four}}
pool = concurrent.futures.ThreadPoolExecutor(24, "ask")
own = threading.local()


def @{fn}(name, what):
    """A line to each service for each thread."""
    if name not in own.__dict__:
        line = socket.create_connection(("127.0.0.1", FLAGS[name]))
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        setattr(own, name, (line, line.makefile("rb")))
    line, answers = getattr(own, name)
    line.sendall(f"{name} {what}\n".encode())
    return answers.readline()


def @{fn2}(product):
    asked = [(name, f"{product} {i}") for i in range(@{each}) for name in FLAGS]
    if "@{order}" == "together":
        return list(pool.map(lambda ask: @{fn}(*ask), asked))
    if "@{order}" == "serial":
        return [@{fn}(*ask) for ask in asked]
    found = [product.encode()]
    for name in FLAGS:
        found.append(@{fn}(name, found[-1][6:12].decode()))
    return found


class Page(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    disable_nagle_algorithm = True

    def do_GET(self):
        body = b"".join(@{fn2}(os.path.basename(self.path)))
        mark = body
        for _ in range(@{rounds}):
            mark = hashlib.sha256(mark).digest()
        self.send_response(200)
        self.send_header("ETag", mark.hex())
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


http.server.ThreadingHTTPServer(("127.0.0.1", @{port}), Page).serve_forever()
