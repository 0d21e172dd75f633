"""What is known of the sky above the observatory: /dome, /seeing, /moon, /satellites, /wind, /clouds, for a target of the catalogue."""
import http.server
import json
import random
import time


class Sky(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def do_GET(self):
        path, _, query = self.path.partition("?")
        time.sleep(@{takes_ms} / 1000 * random.uniform(0.85, 1.15))
        body = json.dumps({"what": path[1:], "value": sum(query.encode()) * 7919 % 1000}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 64


Server(("127.0.0.1", @{sky}), Sky).serve_forever()
