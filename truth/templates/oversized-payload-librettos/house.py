"""The opera house: gives its scores, and tells their editions."""
import http.server
import itertools
import random

SCORES = [random.Random(number).randbytes(@{score_kb} << 10) for number in range(@{scores})]
asked = itertools.count(1)


class House(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def head(self, number):
        if self.command == "HEAD":
            count = next(asked)
            House.edition[number] += @{changed} > 0 and count % (@{changed} or 1) == 0
        self.send_response(200)
        self.send_header("Content-Type", "application/octet-stream")
        self.send_header("Content-Length", str(len(SCORES[number])))
        self.send_header("ETag", f'"{number}-{House.edition[number]}"')
        self.send_header("X-Composer", ["Handel", "Gluck", "Weber", "Lortzing"][number % 4])
        self.end_headers()

    def @{fn2}(self, number):
        self.wfile.write(SCORES[number])

    def do_HEAD(self):
        self.head(int(self.path.rsplit("/", 1)[1]) % len(SCORES))

    def do_GET(self):
        number = int(self.path.rsplit("/", 1)[1]) % len(SCORES)
        self.head(number)
        self.@{fn2}(number)

    def log_message(self, *words):
        pass


House.edition = [1] * len(SCORES)
http.server.ThreadingHTTPServer(("127.0.0.1", @{port}), House).serve_forever()
