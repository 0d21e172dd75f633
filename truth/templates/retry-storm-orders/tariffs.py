"""The tariffs, by region. One region's table is being rebuilt: what is asked of it waits for that."""
import random
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Ask(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        stuck = @{stuck} and self.path.startswith("/tariff/region-0/")
        time.sleep(random.uniform(1.2, 2.5) if stuck else random.uniform(0.0005, 0.002))
        body = b'{"path":"%s","cents":%d}' % (self.path.encode(), random.randrange(90, 900))
        head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
        try:
            self.wfile.write(head.encode() + body)
        except OSError:
            self.close_connection = True

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    request_queue_size = 200
    daemon_threads = True


Server(("127.0.0.1", @{port}), Ask).serve_forever()
