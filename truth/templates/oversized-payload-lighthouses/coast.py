"""The coast's station: has what each of its lamps has told."""
import http.server
import random
import urllib.parse

chance = random.Random(9)
block = "".join(f"{at:010d};{chance.uniform(11.8, 13.1):.3f};{chance.uniform(2, 31):.2f};{chance.choice('NESW')};{'ok' if chance.random() > 0.1 else 'dim'}\n" for at in range(20000)).encode()
size = int(@{mb} * 1000000)
told = (block * (size // len(block) + 1))[-size:]
lines = told.splitlines(keepends=True)[-500:]


class Coast(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = 65536

    def do_GET(self):
        asked = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)
        last = int(asked.get("last", ["0"])[0])
        body = b"".join(lines[-last:]) if last else told
        self.send_response(200)
        self.send_header("Content-Type", "text/csv")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def log_message(self, *_):
        pass


http.server.ThreadingHTTPServer(("127.0.0.1", @{port}), Coast).serve_forever()
