"""The book of the hives. A line asks, a line answers: `apiary KEEPER`, `visit HIVE`, `visits HIVE…`."""
import os
import socketserver
import time

LOOKUP = @{lookup} / 1000


def visit(hive):
    return f"{hive} {20260300 + hive * 7 % 31} {28 + hive % 170 / 10:.1f} {hive * 5 % 9} {hive % 4} {hive * 131 % 900} {hive * 57 % 700}"


class Reader(socketserver.StreamRequestHandler):
    def handle(self):
        for line in self.rfile:
            word, *numbers = line.decode().split()
            numbers = [int(number) for number in numbers]
            time.sleep(LOOKUP + len(numbers) * 0.000005)
            if word == "apiary":
                first = numbers[0] * 1000
                answer = "hives " + " ".join(str(first + 3 * i) for i in range(@{hives}))
            elif word == "visit":
                answer = "visit " + visit(numbers[0])
            else:
                answer = "visits " + "; ".join(visit(hive) for hive in numbers)
            self.wfile.write(answer.encode() + b"\n")


class Book(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True


os.umask(0o077)
Book("@{work}/@{book}", Reader).serve_forever()
