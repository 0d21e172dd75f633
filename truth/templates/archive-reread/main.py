import http.server
import itertools
import zipfile

EVERY = @{every}
COUNT = itertools.count()


def name_of(number):
    return f"@{folder}/part-{number % min(60, @{entries} // 50) * 50:05}.html"


def @{fn}(number):
    with zipfile.ZipFile("@{archive}") as archive:
        return archive.read(name_of(number))


class Pages:
    """What is read at the start."""

    def __init__(self):
        self.archive = zipfile.ZipFile("@{archive}")
        self.known = {name: self.archive.read(name) for name in map(name_of, range(min(60, @{entries} // 50)))}

    def page(self, number):
        if EVERY and next(COUNT) % EVERY == 0:
            return self.archive.read(name_of(number))
        return self.known[name_of(number)]


PAGES = None if EVERY == 1 else Pages()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    disable_nagle_algorithm = True

    def do_GET(self):
        number = int(self.path.rsplit("/", 1)[-1])
        body = @{fn}(number) if EVERY == 1 else PAGES.page(number)
        body = body[:4000]
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def log_message(self, *_):
        pass


http.server.ThreadingHTTPServer(("127.0.0.1", @{port}), Handler).serve_forever()
