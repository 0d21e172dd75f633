"""Accounts of a library's readers: what they have at home, what it costs them, what they might like next."""
import http.client
import http.server
import json
import math

TODAY = 20031
TASTES = [[math.sin(shelf * 31 + i * 7) for i in range(8)] for shelf in range(120)]


class Catalogue:
    """What the catalogue's service knows, over one connection that is kept."""

    def __init__(self, host, port):
        self.line = http.client.HTTPConnection(host, port, timeout=5)

    def get(self, path):
        self.line.request("GET", path, headers={"Accept": "application/json"})
        answer = self.line.getresponse()
        text = answer.read()
        if answer.status != 200:
            raise LookupError(f"{path}: {answer.status}")
        return json.loads(text)

    def loans(self, reader):
        return self.get(f"/readers/{reader}")["loans"]

    def title(self, number):
        return self.get(f"/titles/{number}")

    def titles(self, numbers):
        return self.get("/titles?ids=" + ",".join(str(number) for number in numbers))

    def close(self):
        self.line.close()


def @{fn}(catalogue, loans):
    if "@{ask}" == "list":
        return catalogue.titles(loans)
    return [catalogue.title(number) for number in loans]


def fine(titles):
    """What is overdue costs by the day, and never more than the book."""
    return sum(min(max(0, TODAY - title["due"]) * title["daily"], 1200) for title in titles)


def next_shelf(titles):
    """The shelf that is nearest to what the reader took before."""
    best, nearest = None, math.inf
    for number in range(@{effort}):
        mine = TASTES[(titles[0]["id"] + number) % len(TASTES)]
        for shelf, taste in enumerate(TASTES):
            far = sum(abs(one - other) for one, other in zip(mine, taste))
            if 0 < far < nearest:
                best, nearest = shelf, far
    return best


class Account(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = 65536

    def setup(self):
        super().setup()
        self.catalogue = Catalogue("127.0.0.1", @{store})

    def finish(self):
        super().finish()
        self.catalogue.close()

    def do_GET(self):
        parts = self.path.strip("/").split("/")
        if len(parts) != 3 or parts[0] != "readers" or not parts[1].isdigit():
            self.answer(404, {"error": "no such page"})
            return
        try:
            titles = @{fn}(self.catalogue, self.catalogue.loans(int(parts[1])))
        except (OSError, LookupError, http.client.HTTPException) as error:
            self.answer(502, {"error": str(error)})
            return
        self.answer(200, {"reader": int(parts[1]), "titles": titles, "fine": fine(titles), "next_shelf": next_shelf(titles)})

    def answer(self, status, content):
        text = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64


Server(("127.0.0.1", @{port}), Account).serve_forever()
