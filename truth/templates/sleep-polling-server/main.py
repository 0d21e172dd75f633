"""Makes labels. What makes them is not safe for threads: workers of their own do it, and put the results where the handlers find them."""
import hashlib
import http.server
import queue
import threading
import time

orders, results = queue.Queue(), {}
made = 0


class Order:
    def __init__(self, number):
        self.number, self.done = number, threading.Event()


def worker():
    global made
    while True:
        order = orders.get()
        start, mark = time.monotonic(), str(order.number).encode()
        while time.monotonic() - start < @{job_ms} / 1000:
            mark = hashlib.sha256(mark).digest()
        results[order.number] = mark.hex() + "-" * @{bytes}
        made += 1
        order.done.set()


def @{fn}(order):
    if "@{wait}" == "told":
        order.done.wait()
        return results.pop(order.number)
    while order.number not in results:
        time.sleep(@{pause})
    return results.pop(order.number)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 65536
    disable_nagle_algorithm = True

    def do_GET(self):
        order = Order(int(self.path.rsplit("/", 1)[1]))
        orders.put(order)
        body = @{fn}(order).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        pass


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 64


def statistics():
    last = 0
    while True:
        time.sleep(@{tick})
        last = made - last


for _ in range(@{workers}):
    threading.Thread(target=worker, daemon=True, name="labels").start()
threading.Thread(target=statistics, daemon=True, name="statistics").start()
Server(("127.0.0.1", @{port}), Handler).serve_forever()
