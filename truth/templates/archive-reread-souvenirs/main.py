import socketserver
import zipfile
import zlib

SEASON = "@{work}/@{archive}"


def name_of(n):
    item = n % @{asked} * (@{entries} // @{asked})
    return "@{season}/%02d/item-%05d.txt" % (item % 40, item)


class Archive:
    """The texts as they are in the season's archive."""

    def text(self, name):
        return self.@{fn}(name).decode()

    def @{fn}(self, name):
        with zipfile.ZipFile(SEASON) as archive:
            return archive.read(name)


class Shelf:
    def __init__(self):
        self.archive, self.texts = zipfile.ZipFile(SEASON), {}

    def text(self, name):
        if name not in self.texts:
            self.texts[name] = self.archive.read(name).decode()
        return self.texts[name]


def proof(label):
    value = zlib.crc32(label.encode())
    for i in range(@{proof} // 4):
        value = zlib.crc32(bytes((i & 255, value & 255)), value)
    return value


class Till(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True

    def handle(self):
        for question in self.rfile:
            text = self.server.texts.text(name_of(int(question.split()[1])))
            label = text.replace("{name}", "Souvenir")
            self.wfile.write(b"ok %d %08x %s\n" % (len(label), proof(label), label.split("\n", 1)[0].encode()))


class Printer(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


def main():
    with Printer(("127.0.0.1", @{port}), Till) as printer:
        printer.texts = Archive() if "@{how}" == "anew" else Shelf()
        if "@{how}" == "ahead":
            for n in range(@{asked}):
                printer.texts.text(name_of(n))
        printer.serve_forever()


main()
