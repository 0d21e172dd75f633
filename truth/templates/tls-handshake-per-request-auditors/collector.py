"""The collector of audit trails: frames with their length before them (RFC 5425), each is acknowledged with the number of its entries."""
import socket
import socketserver
import ssl

CONTEXT = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
CONTEXT.load_cert_chain("@{work}/trail.pem", "@{work}/trail.key")


class Trail(socketserver.BaseRequestHandler):
    def handle(self):
        try:
            self.request.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with CONTEXT.wrap_socket(self.request, server_side=True) as line, line.makefile("rb") as frames:
                while True:
                    digits = b""
                    while (one := frames.read(1)) not in (b" ", b""):
                        digits += one
                    if not one:
                        return
                    line.sendall(b"OK %d\n" % frames.read(int(digits)).count(b"\n"))
        except (OSError, ValueError):
            pass


class Collector(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True
    request_queue_size = 64


Collector(("127.0.0.1", @{port}), Trail).serve_forever()
