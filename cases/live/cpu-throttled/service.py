"""Answers each request with a sum that takes some 20 ms of CPU: service.py PORT."""
import http.server
import sys


class Sum(http.server.BaseHTTPRequestHandler):
    disable_nagle_algorithm = True
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        body = b"%d\n" % sum(n * n for n in range(200_000))
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Sum).serve_forever()
