"""Passes the calls of a taxi's desk on to the drivers: `pager 17` is a driver who comes, `call 17` is a call."""
import resource
import select
import socket
import zlib

# What has been said and is not at its end yet, by descriptor.
lines, rest, drivers = {}, {}, []
door = socket.create_server(("127.0.0.1", @{port}), backlog=512)
door.setblocking(False)
calls = 0


class Watch:
    """Tells who has said something."""

    def __init__(self):
        self.poll = select.epoll() if "@{how}" == "epoll" else select.poll()

    def add(self, fd):
        self.poll.register(fd, select.POLLIN)

    def drop(self, fd):
        self.poll.unregister(fd)

    def @{fn}(self):
        return [fd for fd, _ in self.poll.poll()]


def order(number):
    text = f"call {calls}: {number % 900} Main Street, {'x' * @{text}}".encode()
    return b"%s %08x\n" % (text, zlib.crc32(text))


def said(line, words):
    global calls
    if words[0] == b"pager":
        drivers.append(line)
        line.sendall(b"hello\n")
    elif words[0] == b"call":
        calls += 1
        number = int(words[1])
        if drivers:
            drivers[number % len(drivers)].sendall(order(number))
        line.sendall(b"sent\n")


def welcome(watch):
    while True:
        try:
            line, _ = door.accept()
        except BlockingIOError:
            return
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        line.setblocking(False)
        lines[line.fileno()], rest[line.fileno()] = line, b""
        watch.add(line.fileno())


def hear(watch, fd):
    line = lines[fd]
    try:
        got = line.recv(4096)
        *whole, rest[fd] = (rest[fd] + got).split(b"\n")
        for text in whole:
            said(line, text.split())
    except BlockingIOError:
        return
    except OSError:
        got = b""
    if not got:
        watch.drop(fd)
        del lines[fd], rest[fd]
        line.close()


def main():
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    watch = Watch()
    watch.add(door.fileno())
    while True:
        for fd in watch.@{fn}():
            if fd == door.fileno():
                welcome(watch)
            elif fd in lines:
                hear(watch, fd)


main()
