"""The gateway of a water works: the gauges say their levels, and are told how far to open the valve."""
import logging
import resource
import selectors
import socket
import time


class Works:
    def __init__(self, journal):
        self.cisterns, self.gauges, self.failed, self.closed_until = {}, 0, 0, 0.0
        self.journal = open(journal, "w", buffering=1 << 16)
        self.ready = selectors.DefaultSelector()
        self.door = socket.create_server(("127.0.0.1", @{port}), backlog=256)
        self.ready.register(self.door, selectors.EVENT_READ, None)

    def valve(self, name, level):
        mean = self.cisterns.get(name, level)
        mean += (level - mean) / 16
        self.cisterns[name] = mean
        self.journal.write(f"{time.time():.0f} {name} {level:.0f} {mean:.1f}\n")
        return max(0, min(100, 50 + (400 - mean) / 4))

    def @{fn}(self):
        try:
            link, _ = self.door.accept()
        except OSError as why:
            # Out of descriptors: those who are in go on, and the door is looked at again in a moment.
            if self.failed % 100 == 0:
                logging.warning("%s", why)
            self.failed += 1
            self.closed_until = time.monotonic() + 0.1
            self.ready.unregister(self.door)
            return
        if self.gauges >= @{most}:
            link.sendall(b"full, come again\n")
            link.close()
            return
        self.gauges += 1
        self.ready.register(link, selectors.EVENT_READ, bytearray())

    def leave(self, link):
        self.gauges -= 1
        self.ready.unregister(link)
        link.close()

    def listen(self, link, rest):
        try:
            got = link.recv(4096)
            if not got:
                return self.leave(link)
            rest += got
            while b"\n" in rest:
                line, _, after = rest.partition(b"\n")
                rest[:] = after
                name, level = line.split()
                link.sendall(b"valve %d\n" % self.valve(name.decode(), float(level)))
        except (OSError, ValueError) as why:
            logging.info("a gauge has gone: %s", why)
            self.leave(link)

    def work(self):
        while True:
            for key, _ in self.ready.select(0.1 if self.closed_until else None):
                if key.data is None:
                    self.@{fn}()
                else:
                    self.listen(key.fileobj, key.data)
            if self.closed_until and time.monotonic() > self.closed_until:
                self.closed_until = 0.0
                self.ready.register(self.door, selectors.EVENT_READ, None)


resource.setrlimit(resource.RLIMIT_NOFILE, (@{limit}, @{limit}))
Works("@{work}/@{journal}").work()
