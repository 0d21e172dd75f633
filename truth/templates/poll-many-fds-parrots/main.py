"""The post of an aviary: hears at each nest what its parrot says, and keeps what is loud."""
import json
import math
import resource
import select
import socket
import time


class Post:
    def __init__(self, count):
        self.list = select.epoll() if @{epoll} else select.poll()
        self.patience = 0.5 if @{epoll} else 500
        self.voice = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.nests, self.loudest = {}, {}
        self.units, self.polling = 0, 0.0
        for number in range(count):
            nest = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            nest.setblocking(False)
            nest.bind(f"@{work}/@{nests}/nest-{number}")
            self.nests[nest.fileno()] = nest
            self.list.register(nest, select.POLLIN)

    def @{fn}(self):
        # What it costs, not how long the parrots are silent.
        start = time.thread_time()
        ready = self.list.poll(self.patience)
        self.polling += time.thread_time() - start
        return ready

    def hear(self, nest):
        while True:
            try:
                text = nest.recv(256)
            except BlockingIOError:
                return
            number, word, loud, pitch = text.decode().split()
            loud, pitch = float(loud), float(pitch)
            wave = sum(math.sin(pitch * i / 8000) * loud / (i + 1) for i in range(@{rounds}))
            most = self.loudest[word] = max(self.loudest.get(word, 0.0), loud + wave / 1000)
            self.voice.sendto(f"{number} {'heard' if loud < most else 'louder'}".encode(), "@{work}/parrots.sock")
            self.units += 1


def main():
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    post = Post(@{count})
    handling, end = 0.0, time.monotonic() + @{seconds}
    while time.monotonic() < end:
        ready = post.@{fn}()
        start = time.monotonic()
        for fd, _ in ready:
            post.hear(post.nests[fd])
        handling += time.monotonic() - start
    with open("@{report}", "w") as out:
        json.dump({"units": post.units, "seconds": handling + post.polling, "culprit": post.polling}, out)


main()
