"""The displays: each asks what is new in its tent, and asks again when it waited too long."""
import json
import random
import socket
import threading
import time

asked, gave_up, units, lock = [0.0], [0.0], [0], threading.Lock()
end = time.monotonic() + @{seconds}


class Display:
    def __init__(self, number):
        self.number, self.line, self.chance, self.seen = number, None, random.Random(number), 0

    def connect(self):
        if self.line is None:
            self.line = socket.create_connection(("127.0.0.1", @{port}))
            self.line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.file = self.line.makefile("rb")

    def leave(self):
        self.file.close()
        self.line.close()
        self.line = None

    def ask(self, patience):
        """What came, or None when it took too long."""
        self.connect()
        self.line.settimeout(patience)
        try:
            self.line.sendall(f"@{verb} {self.number % @{tents}} {self.seen}\n".encode())
            count, self.seen = map(int, self.file.readline().split()[1:])
            return [self.file.readline() for _ in range(count + 1)][:count]
        except OSError:
            self.leave()
            return None

    def show(self):
        time.sleep(self.chance.random() * 0.2)
        while time.monotonic() < end:
            if @{walkers} and self.number == 0 and self.chance.random() < 0.15:
                self.ask(0.02)
                time.sleep(0.3)
            start, lost = time.monotonic(), 0.0
            while True:
                began = time.monotonic()
                if self.ask(@{patience}) is not None:
                    break
                lost += time.monotonic() - began
                if time.monotonic() > end + 2:
                    return
            with lock:
                units[0] += 1
                asked[0] += time.monotonic() - start
                gave_up[0] += lost
            time.sleep(self.chance.uniform(0.01, 0.05))


threads = [threading.Thread(target=Display(number).show, daemon=True) for number in range(@{displays})]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
with open("@{report}", "w") as report:
    json.dump({"units": units[0], "seconds": asked[0], "culprit": gave_up[0]}, report)
