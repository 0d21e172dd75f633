"""Loans: a front process, a back process for each visitor, and a third that knows the way to the scoring service."""
import multiprocessing
import os
import socket
import time


def clerk(pipe):
    service = socket.create_connection(("127.0.0.1", @{service}))
    answers = service.makefile("rb")
    while True:
        line = pipe.recv_bytes()
        service.sendall(line + b"\n")
        pipe.send_bytes(answers.readline())


def back(pipe):
    near, far = multiprocessing.Pipe()
    if not os.fork():
        clerk(far)
    while True:
        near.send_bytes(pipe.recv_bytes())
        score = near.recv_bytes()
        began, total = time.monotonic(), 0
        while time.monotonic() - began < @{effort} / 1000:
            total += sum(score)
        pipe.send_bytes(b"offer " + score)


def @{fn}(pipe, line):
    pipe.send_bytes(line)
    return pipe.recv_bytes()


def visit(visitor):
    near, far = multiprocessing.Pipe()
    if not os.fork():
        back(far)
    visitor.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for line in visitor.makefile("rb"):
        visitor.sendall(@{fn}(near, line.strip()))


def main():
    with socket.create_server(("127.0.0.1", @{port}), backlog=64) as listener:
        while True:
            visitor, _ = listener.accept()
            if not os.fork():
                listener.close()
                visit(visitor)
                os._exit(0)
            visitor.close()


main()
