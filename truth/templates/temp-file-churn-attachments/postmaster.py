# The postmaster of a tax office: "NEXT" is answered by the next message when there is one (its number, its length, itself), "VERDICT n text" by nothing.
import itertools
import random
import socketserver
import threading
import time

chance = random.Random(5)
NUMBERS = itertools.count(1)
BOUNDARY = "==papers=="
BEGAN, LOCK = time.monotonic(), threading.Lock()


def message(sizes):
    text = f"From: citizen@example.org\r\nContent-Type: multipart/mixed; boundary=\"{BOUNDARY}\"\r\n\r\n".encode()
    for at, size in enumerate(sizes):
        head = f'--{BOUNDARY}\r\nContent-Disposition: attachment; filename="form{at}.pdf"\r\nContent-Transfer-Encoding: binary\r\n\r\n'
        text += head.encode() + b"%PDF-1.7\n" + chance.randbytes(size) + b"\r\n"
    return text + f"--{BOUNDARY}--\r\n".encode()


def sizes():
    return [int(@{kb} * 1024 * chance.uniform(0.6, 1.4)) for _ in range(@{parts})]


STOCK = [message(sizes()) for _ in range(6)]
BULK = message([14_000_000]) if @{bulk} else b""


class Checker(socketserver.StreamRequestHandler):
    def handle(self):
        for line in self.rfile:
            if line.strip() != b"NEXT":
                continue
            with LOCK:
                number = next(NUMBERS)
                due = BEGAN + number / @{per_s}
            time.sleep(max(0.0, due - time.monotonic()))
            text = BULK if @{bulk} and number % max(@{bulk}, 1) == 0 else STOCK[number % len(STOCK)]
            self.wfile.write(b"%d %d\n" % (number, len(text)) + text)


class Postmaster(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True


Postmaster("@{work}/@{sock}", Checker).serve_forever()
