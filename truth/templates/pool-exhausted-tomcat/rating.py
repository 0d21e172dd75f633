"""The scoring service: a number for each customer."""
import socketserver
import time


class Asked(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True

    def handle(self):
        while line := self.rfile.readline():
            while self.rfile.readline().strip():
                pass
            time.sleep(@{answer_ms} / 1000)
            score = f"{len(line) * 37 % 101}".encode()
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s" % (len(score), score))


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 128


Server(("127.0.0.1", @{rating}), Asked).serve_forever()
