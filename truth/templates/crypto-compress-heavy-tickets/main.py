"""A box office: the best seat that is left in a concert's hall, and a ticket for it that the door can check."""
import base64
import csv
import hashlib
import hmac
import math
import socketserver
import time


class Hall:
    def __init__(self, rows, seats):
        self.rows, self.seats, self.taken = rows, seats, set()

    def best(self, wish):
        """The free seat with the best view: near the middle, not too near the front."""
        best, most = None, -math.inf
        for row in range(self.rows):
            for seat in range(0, self.seats, 2):
                worth = -abs(row - self.rows * 0.35) - abs(seat - self.seats / 2) * 0.4 - math.sin(wish + row * seat) * 2
                if worth > most and (row, seat) not in self.taken:
                    best, most = (row, seat), worth
        self.taken.add(best)
        if len(self.taken) > self.rows * self.seats * 0.4:
            self.taken.clear()
        return best


class Concert:
    def __init__(self, name, phrase, cents):
        self.name, self.phrase, self.cents = name, phrase.encode(), 2500 + int(cents)
        self.hall = Hall(@{rows}, 24)
        self.key, self.since = None, -math.inf

    def @{fn}(self):
        return hashlib.pbkdf2_hmac("sha256", self.phrase, self.name.encode(), @{rounds})

    def seal(self, text):
        key = self.key
        if key is None or time.monotonic() - self.since >= @{kept}:
            key = self.key = self.@{fn}()
            self.since = time.monotonic()
        mark = hmac.digest(key, text, "sha256")
        return base64.urlsafe_b64encode(text + mark[:16]).rstrip(b"=")

    def ticket(self, number):
        row, seat = self.hall.best(number)
        return self.seal(f"{self.name}|{number}|{row + 1}|{seat + 1}|{self.cents}".encode())


def season(path):
    with open(path, newline="") as file:
        return [Concert(*row) for row in csv.reader(file, delimiter=";")]


class Window(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True

    def handle(self):
        for line in self.rfile:
            verb, _, number = line.decode().strip().partition(" ")
            if verb != "ticket" or not number.isdigit():
                self.wfile.write(b"what?\n")
                continue
            concerts = self.server.concerts
            self.wfile.write(concerts[int(number) % len(concerts)].ticket(int(number)) + b"\n")


class Office(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, port, concerts):
        super().__init__(("127.0.0.1", port), Window)
        self.concerts = concerts


Office(@{port}, season("@{season}")).serve_forever()
