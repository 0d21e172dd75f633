"""Watches the kilns of a pottery: what the degrees are, and when each will be hot enough."""
import math
import multiprocessing
import random
import socket
import socketserver
import threading
import time
from collections import deque

APART = @{apart}
BUDGET, PERIOD = @{budget_ms} / 1000, @{period_ms} / 1000


class Kiln:
    def __init__(self, number):
        self.number = number
        self.degrees = deque(maxlen=240)
        self.curve = (1200.0, 60.0)

    def hot_after(self, goal):
        top, pace = self.curve
        return math.inf if goal >= top else -pace * math.log(1 - goal / top)


KILNS = [Kiln(number) for number in range(@{kilns})]


def listen():
    """Keeps the last degrees of each kiln."""
    with socket.create_connection(("127.0.0.1", @{probes})) as line:
        for text in line.makefile("r"):
            number, degrees = text.split()
            KILNS[int(number)].degrees.append((time.monotonic(), float(degrees)))


def distance(samples, top, pace):
    first = samples[0][0]
    return sum((top * (1 - math.exp(-(at - first) * 20 / pace)) - degrees) ** 2 for at, degrees in samples)


def @{fn}(samples, curve):
    """Improves the curve of a firing as long as the budget lasts."""
    began = time.thread_time()
    best, (top, pace), step = distance(samples, *curve), curve, 0.2
    while time.thread_time() - began < BUDGET:
        nearby = top * random.uniform(1 - step, 1 + step), pace * random.uniform(1 - step, 1 + step)
        far = distance(samples, *nearby)
        if far < best:
            best, (top, pace) = far, nearby
        else:
            step = max(0.01, step * 0.98)
    return top, pace


def fitter(number, run):
    due = time.monotonic() + PERIOD * number / @{fitters}
    mine = KILNS[number::@{fitters}]
    turn = 0
    while True:
        kiln = mine[turn % len(mine)]
        turn += 1
        samples = list(kiln.degrees)
        if samples:
            kiln.curve = run(@{fn}, (samples, kiln.curve))
        due = max(due + PERIOD, time.monotonic())
        time.sleep(max(0.0, due - time.monotonic()))


class Board(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True

    def @{fn2}(self, kiln):
        lately = list(kiln.degrees)[-20:]
        if not lately:
            return "cold"
        mean = sum(degrees for _, degrees in lately) / len(lately)
        return f"{kiln.number} {mean:.1f} {lately[-1][1]:.1f} {kiln.hot_after(1100):.1f}"

    def handle(self):
        for ask in self.rfile:
            kiln = KILNS[int(ask.split()[1]) % len(KILNS)]
            self.wfile.write(self.@{fn2}(kiln).encode() + b"\n")


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


def main():
    run = lambda function, values: function(*values)
    if APART:
        run = multiprocessing.get_context("fork").Pool(@{fitters}).apply
    threading.Thread(target=listen, daemon=True).start()
    for number in range(@{fitters}):
        threading.Thread(target=fitter, args=(number, run), daemon=True).start()
    Server(("127.0.0.1", @{port}), Board).serve_forever()


main()
