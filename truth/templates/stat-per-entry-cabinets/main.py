"""The file cabinet of a law firm: a page for each case, with its documents by section."""
import collections
import http.server
import itertools
import json
import os
import stat

ROOT = "@{work}/@{cabinets}"
visits = itertools.count(1)
CASES = @{last} + 1
PAGE, WALK = "@{page}", "@{walk}"


def @{fn}(folder):
    """All documents below a folder, as (section, name, bytes)."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if WALK == "attributes":
                there = entry.stat(follow_symlinks=False)
                is_folder, size = stat.S_ISDIR(there.st_mode), there.st_size
            else:
                is_folder, size = entry.is_dir(follow_symlinks=False), 0
            if is_folder:
                yield from @{fn}(entry.path)
            else:
                yield folder.rpartition("/")[2], entry.name, size


class Page:
    def __init__(self):
        self.sections = collections.Counter()
        self.newest = {}
        self.bytes = 0

    def add(self, section, name, size):
        self.sections[section] += 1
        if name > self.newest.get(section, ""):
            self.newest[section] = name
        self.bytes += size

    def text(self, case):
        told = {"case": case, "documents": self.sections.total(), "sections": self.sections, "newest": self.newest}
        if PAGE == "sizes":
            told["bytes"] = self.bytes
        return json.dumps(told).encode()


class Desk(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = 8192

    def do_GET(self):
        try:
            case = int(self.path.rpartition("/")[2]) % CASES
        except ValueError:
            return self.send_error(404)
        page = Page()
        folder = f"{ROOT}/case-{case}"
        with open(f"{folder}/@{first}/{next(visits):06}-visit.txt", "w") as note:
            note.write(f"seen by {self.client_address[1]}\n")
        for section, name, size in @{fn}(folder):
            page.add(section, name, size)
        body = page.text(case)
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


http.server.ThreadingHTTPServer(("127.0.0.1", @{port}), Desk).serve_forever()
