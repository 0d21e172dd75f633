import socket
import threading

import json
import time

now = time.monotonic


def wait_until(due):
    time.sleep(max(0.0, due - now()))


def report(units, busy, culprit):
    with open("@{report}", "w") as out:
        json.dump({"units": units, "seconds": busy, "culprit": culprit}, out)

class Worker(threading.Thread):
    def __init__(self, number):
        super().__init__(name="worker-%d" % number, daemon=True)
        self.socket, self.units, self.busy, self.asked, self.worst = None, 0, 0.0, None, 0.0

    def ask(self, line):
        if self.socket is None:
            self.socket = socket.create_connection(("127.0.0.1", @{port}))
            self.socket.settimeout(@{limit} or None)
            self.answers = self.socket.makefile("rb")
        self.socket.sendall(line)
        return self.answers.readline()

    def @{fn}(self, line):
        while True:
            try:
                return self.ask(line)
            except OSError:
                self.socket.close()
                self.socket = None

    def run(self):
        began = now()
        while True:
            self.asked = now()
            self.@{fn}(b"order %d\n" % self.units)
            self.busy += now() - self.asked
            self.units, self.asked = self.units + 1, None
            wait_until(began + self.units / @{rate})


def main():
    workers = [Worker(n) for n in range(@{workers})]
    for worker in workers:
        worker.start()
    if @{idle}:
        # For the operator's console.
        console = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=console.accept, name="console", daemon=True).start()
    time.sleep(@{seconds})
    hanging = sum(max(0.0, now() - (worker.asked or now())) for worker in workers)
    report(sum(worker.units for worker in workers), hanging + sum(worker.busy for worker in workers), hanging)


main()
