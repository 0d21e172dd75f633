"""Shows the discussions of an archive of mailing lists: how long each is, and what it is about."""
import os
import socketserver
import sys
import zlib

SLOT = @{slot_kb} * 1024
LETTERS = @{letters}


class Store:
    def __init__(self, path):
        self.fd = os.open(path, os.O_RDONLY)
        self.slots = os.fstat(self.fd).st_size // SLOT
        self.discussions = self.slots // LETTERS

    def place(self, discussion, number):
        if "@{lay}" == "together":
            return (discussion * LETTERS + number) * SLOT
        return (number * self.discussions + (discussion + number * 17) % self.discussions) * SLOT

    def @{fn}(self, place, size=SLOT):
        return os.pread(self.fd, size, place)

    def discussion(self, number):
        if "@{lay}" == "together":
            run = self.@{fn}(self.place(number, 0), LETTERS * SLOT)
            return [run[at:at + SLOT] for at in range(0, len(run), SLOT)]
        return [self.@{fn}(self.place(number, i)) for i in range(LETTERS)]

    def day(self, number):
        size = @{page_kb} * 1024
        run = self.@{fn}(number * size % (self.slots * SLOT - size) & ~4095, size)
        return [run[at:at + SLOT] for at in range(0, len(run), SLOT)]


def digest(letters):
    lines, words = 0, 0
    for letter in letters:
        for _ in range(@{rounds}):
            words = zlib.crc32(letter, words)
        lines += letter.count(b"\n")
    return lines, words


class Reader(socketserver.StreamRequestHandler):
    def handle(self):
        for line in self.rfile:
            wanted = int("".join(c for c in line.decode() if c.isdigit()) or 0)
            number = wanted * 2654435761 % STORE.discussions
            letters = STORE.discussion(number) if "@{view}" == "discussion" else STORE.day(wanted * 2654435761 % 100003)
            lines, words = digest(letters)
            self.wfile.write(f"{len(letters)} letters {lines} lines {words:08x}\n".encode())


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


STORE = Store("@{work}/@{volume}/@{data}")
print(STORE.slots, "letters in", STORE.discussions, "discussions", file=sys.stderr)
Server(("127.0.0.1", @{port}), Reader).serve_forever()
