"""Keeps documents: PUT /scans/N with a body, 201 and its sum back."""
import random
import socketserver
import time
import zlib


class Ask(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True

    def handle(self):
        try:
            while self.rfile.readline():
                length, asks = 0, False
                while (head := self.rfile.readline().strip().lower()):
                    name, _, value = head.partition(b":")
                    if name == b"content-length":
                        length = int(value)
                    asks = asks or name == b"expect"
                if asks and @{says}:
                    self.wfile.write(b"HTTP/1.1 100 Continue\r\n\r\n")
                body = self.rfile.read(length)
                time.sleep(@{reading} + @{delay_ms} / 1000 * random.uniform(0.7, 1.3))
                answer = b"%08x" % zlib.crc32(body)
                self.wfile.write(b"HTTP/1.1 201 Created\r\nContent-Length: %d\r\n\r\n" % len(answer) + answer)
        except OSError:
            pass


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 64


Server(("127.0.0.1", @{archive}), Ask).serve_forever()
