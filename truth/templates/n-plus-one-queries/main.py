import http.server
import json
import socket
import threading
import zlib


class Store(threading.local):
    """As much of the store's protocol as is needed; a connection for each thread."""

    def __init__(self):
        self.line = socket.create_connection(("127.0.0.1", @{store}))
        self.line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.answers = self.line.makefile("rb")

    def call(self, *words):
        words = [str(word).encode() for word in words]
        self.line.sendall(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words))
        return self.answer()

    def answer(self):
        head = self.answers.readline()
        if head[:1] == b"*":
            return [self.answer() for _ in range(int(head[1:]))]
        if head[:1] == b"$":
            length = int(head[1:])
            return self.answers.read(length + 2)[:-2] if length >= 0 else None
        return head


store = Store()


def @{fn}(start):
    keys = [f"@{prefix}:{(start + i) % (@{entries} * 4)}" for i in range(@{shown})]
    if @{single}:
        return [store.call("GET", key) for key in keys]
    return store.call("MGET", *keys)


class Page(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    disable_nagle_algorithm = True

    def do_GET(self):
        entries = @{fn}(int(self.path.rsplit("/", 1)[1]) * @{entries})
        body = json.dumps([entry.decode() for entry in entries]).encode()
        mark = 0
        for _ in range(@{rounds}):
            mark = zlib.crc32(body, mark)
        self.send_response(200)
        self.send_header("ETag", f'"{mark:x}"')
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


http.server.ThreadingHTTPServer(("127.0.0.1", @{port}), Page).serve_forever()
