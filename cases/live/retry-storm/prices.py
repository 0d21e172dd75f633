"""A price server that has too much to do: prices.py PORT. Each answer is 503, after 5 ms."""
import http.server
import sys
import time


class Prices(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        time.sleep(0.005)
        self.send_response(503)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *args):
        pass


http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Prices).serve_forever()
