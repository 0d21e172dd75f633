"""A gateway: quotes are answered at once; a report is made by another service, and the connection waits for it."""
import os
import queue
import select
import socket
import threading
import time

jobs, done, prices = queue.Queue(), queue.SimpleQueue(), {}
bell, ring = os.pipe()
loop = select.epoll()
clients = {}


class Client:
    def __init__(self, connection):
        self.connection, self.busy, self.gone, self.text = connection, False, False, b""


def reporter():
    line = socket.create_connection(("127.0.0.1", @{service}))
    answers = line.makefile("rb")
    while True:
        client, text = jobs.get()
        line.sendall(b"watch " + text + b"\n")
        done.put((client, answers.readline()))
        os.write(ring, b".")


def drop(client):
    clients.pop(client.connection.fileno(), None)
    client.connection.close()


def quote(client, number):
    start, price = time.perf_counter(), 1.0
    while time.perf_counter() - start < @{effort} / 1000:
        price = price * 1.0001 + number % 7
    client.connection.send(b"quote %.2f\n" % (prices.get(number % 500, 0) + price % 100))


def obey(client):
    part = client.connection.recv(4096)
    if not part:
        return drop(client)
    client.text += part
    while not client.busy and b"\n" in client.text:
        text, _, client.text = client.text.partition(b"\n")
        word, number, *rest = text.split()
        if word == b"get":
            quote(client, int(number))
        elif word == b"put":
            prices[int(number) % 500] = float(rest[0])
        else:
            # Nothing more of this one until its report is there.
            client.busy = True
            loop.modify(client.connection, 0)
            jobs.put((client, text))


def deliver():
    for _ in os.read(bell, 1000):
        client, answer = done.get()
        client.busy = False
        try:
            if client.gone:
                raise OSError("gone")
            client.connection.send(answer)
            loop.modify(client.connection, select.EPOLLIN)
        except OSError:
            drop(client)


def @{fn}(fd, events, door):
    if fd == bell:
        return deliver()
    if fd == door.fileno():
        connection, _ = door.accept()
        connection.setblocking(False)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        clients[connection.fileno()] = Client(connection)
        return loop.register(connection, select.EPOLLIN)
    client = clients.get(fd)
    if client is None:
        return
    if @{watch} and client.busy and events & (select.EPOLLHUP | select.EPOLLERR):
        client.gone = True
        loop.unregister(fd)
    elif events & select.EPOLLIN and not client.busy:
        try:
            obey(client)
        except OSError:
            drop(client)


def main():
    door = socket.create_server(("127.0.0.1", @{port}), backlog=100)
    loop.register(door, select.EPOLLIN)
    loop.register(bell, select.EPOLLIN)
    for _ in range(10):
        threading.Thread(target=reporter, daemon=True).start()
    while True:
        for fd, events in loop.poll(1.0):
            @{fn}(fd, events, door)


main()
