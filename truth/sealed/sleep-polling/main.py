"""Draws shipping labels for the shop: one thread for each connection, one that draws."""
import collections
import socketserver
import threading
import time
import zlib


class Label:
    def __init__(self, order):
        self.order = order
        self.picture = None
        self.ready = threading.Event()


orders = collections.deque()
arrived = threading.Condition()


def draw_labels():
    pixels = bytes(range(256)) * 4
    while True:
        with arrived:
            while not orders:
                arrived.wait()
            label = orders.popleft()
        began = time.monotonic()
        while time.monotonic() - began < @{render} / 1000:
            picture = zlib.compress(pixels + label.order)
        label.picture = picture
        label.ready.set()


def @{fn}(label):
    if @{notify}:
        label.ready.wait()
    else:
        while label.picture is None:
            time.sleep(@{tick} / 1000)
    return label.picture


class Connection(socketserver.StreamRequestHandler):
    def handle(self):
        for line in self.rfile:
            label = Label(line)
            with arrived:
                orders.append(label)
                arrived.notify()
            picture = @{fn}(label)
            self.wfile.write(b"%d bytes\n" % len(picture))


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


def tidy():
    while True:
        time.sleep(@{tick} / 1000)
        if len(orders) > 10000:
            orders.clear()


threading.Thread(target=draw_labels, name="draw", daemon=True).start()
if @{notify} and @{tick}:
    threading.Thread(target=tidy, name="tidy", daemon=True).start()
Server(("127.0.0.1", @{port}), Connection).serve_forever(poll_interval=60)
