"""Intake of a blood bank: a session's bags are entered in the register and get their numbers."""
import concurrent.futures
import http.server
import json
import os
import queue
import threading
import time


class Register(threading.Thread):
    def __init__(self, path):
        super().__init__(name="register", daemon=True)
        self.file = open(path, "a", buffering=1)
        self.desk = queue.SimpleQueue()
        self.last = self.behind = 0

    def hand_in(self, session, group, millilitres):
        number = concurrent.futures.Future()
        self.desk.put((number, session, group, millilitres))
        return number

    def run(self):
        due = time.monotonic() + @{period}
        while True:
            try:
                number, *bag = self.desk.get(timeout=max(0.01, due - time.monotonic()))
                number.set_result(self.@{fn}(*bag))
            except queue.Empty:
                pass
            if time.monotonic() >= due:
                due += @{period}
                if @{every} == 0:
                    self.settle()

    def @{fn}(self, session, group, millilitres):
        self.last += 1
        self.file.write(f"{self.last:09d};{session};{group};{millilitres};{'-' * @{remark}}\n")
        self.behind += 1
        if self.behind == @{every}:
            self.settle()
        return self.last

    def settle(self):
        if self.behind:
            os.fdatasync(self.file.fileno())
            self.behind = 0


class Intake(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def do_POST(self):
        session = int(self.path.rpartition("/")[2])
        bags = self.rfile.read(int(self.headers["Content-Length"])).decode().split(",")
        numbers = [register.hand_in(session, *bag.split()) for bag in bags]
        text = json.dumps({"session": session, "bags": [number.result() for number in numbers]}).encode()
        self.send_response(201)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, format, *values):
        pass


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 64


register = Register("@{work}/@{register}")
register.start()
Server(("127.0.0.1", @{port}), Intake).serve_forever()
