"""Lets the letters of a correspondence be read."""
import hashlib
import http.server
import os


def @{fn}(number):
    with open(os.path.join("@{work}/@{volume}", f"@{doc}-{number % @{count}:04}"), "rb") as letter:
        return letter.read()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 65536
    disable_nagle_algorithm = True

    def do_GET(self):
        try:
            text = @{fn}(int(self.path.rsplit("/", 1)[1]))
        except (ValueError, OSError):
            self.send_error(404)
            return
        mark = hashlib.sha256(text)
        for _ in range(@{rounds}):
            mark = hashlib.sha256(mark.digest())
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.send_header("ETag", mark.hexdigest()[:16])
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *words):
        pass


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 64


Server(("127.0.0.1", @{port}), Handler).serve_forever()
