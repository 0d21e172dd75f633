"""How many pieces there are: processes that were forked before, each with its own loop of events."""
import ctypes
import os
import select
import signal
import socket
import time

LIBC = ctypes.CDLL(None)
CREW = []


class Loop:
    """One process: accepts, reads, answers."""

    def __init__(self, door, bell):
        self.door, self.bell, self.tariff = door, bell, list(range(300))
        self.served, self.state, self.since, self.log = 0, "waiting", time.time(), []
        self.poll = select.epoll()
        self.poll.register(door, select.EPOLLIN | (0 if @{shared} else select.EPOLLEXCLUSIVE))
        self.poll.register(bell, select.EPOLLIN)

    def note(self, state):
        self.log = [*self.log[-20:], f"{self.state} for {time.time() - self.since:.4f} s"]
        self.state, self.since = state, time.time()

    def @{fn}(self):
        self.note("accepting")
        try:
            connection, peer = self.door.accept()
        except BlockingIOError:
            return self.note("waiting")
        self.note(f"answering {peer[1]}")
        with connection:
            connection.setblocking(True)
            if line := connection.recv(200):
                start, pieces = time.perf_counter(), 0
                while time.perf_counter() - start < @{effort} / 1000:
                    pieces += self.tariff[len(line) % 300]
                connection.sendall(b"%d pieces\n" % (pieces % 1000))
        self.served += 1
        self.note("waiting")

    def run(self):
        while True:
            for fd, _ in self.poll.poll():
                if fd == self.bell:
                    os.read(fd, 100)
                    self.tariff = [n * 3 % 1009 for n in self.tariff]
                else:
                    self.@{fn}()


def work(door):
    LIBC.prctl(1, signal.SIGKILL, 0, 0, 0)
    bell, ring = os.pipe()
    os.set_blocking(ring, False)
    signal.set_wakeup_fd(ring)
    signal.signal(signal.SIGHUP, lambda *_: None)
    Loop(door, bell).run()


def main():
    door = socket.create_server(("127.0.0.1", @{port}), backlog=200)
    door.setblocking(False)
    for _ in range(@{crew}):
        pid = os.fork()
        if not pid:
            work(door)
        CREW.append(pid)
    while True:
        time.sleep(@{news} or 5)
        if @{news}:
            for pid in CREW:
                os.kill(pid, signal.SIGHUP)


main()
