"""The service in front: feed.py PORT CATALOG_PORT. It asks the catalogue once a request, and gives up after 1.8 s."""
import http.client
import http.server
import sys
import threading

PORT, CATALOG_PORT = int(sys.argv[1]), int(sys.argv[2])
TIMEOUT_S = 1.8
local = threading.local()


def ask_catalog():
    if not hasattr(local, "catalog"):
        local.catalog = http.client.HTTPConnection("127.0.0.1", CATALOG_PORT, timeout=TIMEOUT_S)
    try:
        local.catalog.request("GET", "/catalog/items")
        return 200, local.catalog.getresponse().read()
    except OSError:
        local.catalog.close()
        return 504, b"the catalogue does not answer\n"


class Feed(http.server.BaseHTTPRequestHandler):
    disable_nagle_algorithm = True
    protocol_version = "HTTP/1.1"
    # Headers and body in one write.
    wbufsize = -1

    def do_GET(self):
        status, body = ask_catalog()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


http.server.ThreadingHTTPServer(("127.0.0.1", PORT), Feed).serve_forever()
