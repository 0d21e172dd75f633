"""The general client of servers: client.py REPORT SECONDS KIND ADDRESS [NAME=VALUE…]. Each of `clients` asks, waits for the answer, pauses for about
`think_ms`, and asks again. Kinds:
  http     ADDRESS is a URL; `{n}` in it is the number of the request. keep=0: a new connection for each request
  line     ADDRESS is HOST:PORT or a path of a unix socket; `ask={n}` is sent with a newline, an answer ends with a newline
At the end REPORT gets units, seconds (the mean time of a request times their number), errors, and percentiles."""
import http.client
import json
import random
import socket
import sys
import threading
import time
import urllib.parse


def main():
    report, seconds, kind, address, *rest = sys.argv[1:]
    options = dict(word.split("=", 1) for word in rest)
    clients, think = int(options.get("clients", 2)), float(options.get("think_ms", 5)) / 1000
    timeout, start_after = float(options.get("timeout_s", 10)), float(options.get("delay_s", 0))
    end = time.monotonic() + start_after + float(seconds)
    took, errors, lock = [], [0], threading.Lock()

    def one_client(number):
        chance = random.Random(number)
        ask = {"http": Http, "line": Line}[kind](address, options, timeout)
        time.sleep(start_after + chance.random() * think)
        n = number
        while time.monotonic() < end:
            began = time.monotonic()
            try:
                ask.ask(n)
                with lock:
                    took.append(time.monotonic() - began)
            except (OSError, http.client.HTTPException):
                with lock:
                    errors[0] += 1
                ask.close()
                time.sleep(0.05)
            n += clients
            if think:
                time.sleep(think * chance.uniform(0.5, 1.5))

    threads = [threading.Thread(target=one_client, args=(number,), daemon=True) for number in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0.0, end - time.monotonic()) + timeout)
    took.sort()
    at = lambda share: took[min(len(took) - 1, int(share * len(took)))] if took else None
    result = {"units": len(took), "seconds": sum(took), "errors": errors[0], "p50_s": at(0.5), "p99_s": at(0.99)}
    with open(report, "w") as out:
        json.dump(result, out)


class Http:
    def __init__(self, address, options, timeout):
        self.url, self.keep, self.timeout = urllib.parse.urlsplit(address), options.get("keep", "1") == "1", timeout
        self.body, self.method = options.get("body"), options.get("method", "GET")
        self.connection = None

    def ask(self, n):
        if self.connection is None:
            self.connection = http.client.HTTPConnection(self.url.hostname, self.url.port, timeout=self.timeout)
        path = (self.url.path or "/") + (f"?{self.url.query}" if self.url.query else "")
        body = self.body.replace("{n}", str(n)).encode() if self.body else None
        self.connection.request(self.method, path.replace("{n}", str(n)), body)
        answer = self.connection.getresponse()
        answer.read()
        if not self.keep:
            self.close()
        if answer.status >= 500:
            raise http.client.HTTPException(f"status {answer.status}")

    def close(self):
        if self.connection is not None:
            self.connection.close()
        self.connection = None


class Line:
    def __init__(self, address, options, timeout):
        self.address, self.text, self.timeout = address, options.get("ask", "get {n}"), timeout
        self.keep = options.get("keep", "1") == "1"
        self.socket = self.file = None

    def ask(self, n):
        if self.socket is None:
            if self.address.startswith("/"):
                self.socket = socket.socket(socket.AF_UNIX)
                self.socket.settimeout(self.timeout)
                self.socket.connect(self.address)
            else:
                host, port = self.address.rsplit(":", 1)
                self.socket = socket.create_connection((host, int(port)), self.timeout)
                self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.file = self.socket.makefile("rb")
        self.socket.sendall(self.text.replace("{n}", str(n)).encode() + b"\n")
        if not self.file.readline():
            raise OSError("closed")
        if not self.keep:
            self.close()

    def close(self):
        if self.socket is not None:
            self.file.close()
            self.socket.close()
        self.socket = None


if __name__ == "__main__":
    main()
