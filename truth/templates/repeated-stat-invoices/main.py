"""Typesets invoices: breaks the text of each position into lines of the column's width."""
import os
import socketserver
import threading
import time

FONT = "@{work}/@{fonts}/@{font}"
CHECK = "@{check}"
COLUMN = 24000
GOODS = "oak board beech rail brass hinge steel screw glass pane wax oil fine sand paper long short small large set of".split()


class Font:
    """The widths of a font's letters, and of the words that were measured already."""

    def __init__(self, path):
        self.path, self.version = path, None
        self.@{fn}()

    def @{fn}(self):
        """Reads the file again if it is another one than before."""
        there = os.stat(self.path)
        version = (there.st_ino, there.st_mtime_ns, there.st_size)
        if version != self.version:
            with open(self.path) as file:
                self.letters = {chr(int(code)): int(width) for code, width in map(str.split, file)}
            self.words, self.version = {}, version

    def width(self, word):
        if CHECK == "word":
            self.@{fn}()
        width = self.words.get(word)
        if width is None:
            width = self.words[word] = sum(self.letters.get(letter, 500) for letter in word)
        return width


def position(number, line):
    return [GOODS[(number * 7 + line * 13 + i * i) % len(GOODS)] for i in range(9)]


def broken(font, words):
    """How many lines the words take, and the space that is left on the last."""
    lines, room, blank = 1, COLUMN, font.width(" ")
    for word in words:
        width = font.width(word)
        if width > room:
            lines, room = lines + 1, COLUMN
        room -= width + blank
    return lines, room


def typeset(font, number):
    if CHECK == "invoice":
        font.@{fn}()
    height, ragged = 0, 0
    for line in range(@{lines}):
        lines, room = broken(font, position(number, line))
        height += lines * 12 + 3
        ragged += room
    return height // 700 + 1, ragged


class Till(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True

    def handle(self):
        for line in self.rfile:
            number = int(line.split()[1])
            pages, ragged = typeset(self.server.font, number)
            self.wfile.write(b"invoice %d: %d pages, %d units ragged\n" % (number, pages, ragged))


class Printer(socketserver.ThreadingTCPServer):
    allow_reuse_address, daemon_threads, request_queue_size = True, True, 64


def watch(font):
    while True:
        time.sleep(1)
        font.@{fn}()


with Printer(("127.0.0.1", @{port}), Till) as printer:
    printer.font = Font(FONT)
    if CHECK == "timer":
        threading.Thread(target=watch, args=(printer.font,), daemon=True).start()
    printer.serve_forever()
