"""Rates loans: the requests are taken by threads, the computing is done by a few processes, so that all processors work at it."""
import concurrent.futures
import http.server
import multiprocessing
import os


def join(group):
    with open(f"/sys/fs/cgroup/cpu/{group}/cgroup.procs", "w") as procs:
        procs.write(str(os.getpid()))


def @{fn}(part, number):
    value, worst = number * 31 + part, 0
    for month in range(@{work_ms} * 8000 // @{shards}):
        value = (value * 16807 + month) % 2147483647
        if value & 4095 > worst:
            worst = value & 4095
    return worst


def night():
    join("@{slice}-night")
    number = 0
    while True:
        number += 1
        @{fn}(number, number)


class Desk(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def do_GET(self):
        number = int(self.path.rpartition("/")[2])
        parts = [self.server.pool.submit(@{fn}, part, number) for part in range(@{shards})]
        text = str([part.result() for part in parts]).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *words):
        pass


class Server(http.server.ThreadingHTTPServer):
    pool = None


def main():
    join("@{slice}")
    fork = multiprocessing.get_context("fork")
    if @{batch}:
        fork.Process(target=night, daemon=True).start()
    pool = concurrent.futures.ProcessPoolExecutor(2, fork)
    for done in [pool.submit(@{fn}, part, 1) for part in range(2)]:
        done.result()
    Server.pool = pool
    Server(("127.0.0.1", @{port}), Desk).serve_forever()


main()
