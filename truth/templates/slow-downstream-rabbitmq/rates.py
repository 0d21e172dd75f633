"""The worker that knows the rates: answers calls of one queue; hands out invoices if that is wanted."""
import pathlib
import socket
import struct
import threading
import time


def short(text):
    return bytes([len(text)]) + text


def long(text):
    return struct.pack(">I", len(text)) + text


def frame(kind, channel, payload):
    return struct.pack(">BHI", kind, channel, len(payload)) + payload + b"\xce"


def method(channel, number, name, arguments):
    return frame(1, channel, struct.pack(">HH", number, name) + arguments)


def message(queue, body, correlation=b""):
    head = struct.pack(">HHQH", 60, 0, len(body), 0x0400) + short(correlation)
    return method(1, 60, 40, b"\0\0" + short(b"") + short(queue) + b"\0") + frame(2, 1, head) + frame(3, 1, body)


def connected():
    link = socket.create_connection(("127.0.0.1", @{port}))
    link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    file = link.makefile("rb")
    link.sendall(b"AMQP\x00\x00\x09\x01")
    read(file)
    link.sendall(method(0, 10, 11, long(b"") + short(b"PLAIN") + long(b"\0guest\0guest") + short(b"en_US")))
    tune = read(file)[4:10]
    link.sendall(method(0, 10, 31, tune + b"\0\0") + method(0, 10, 40, short(b"/") + b"\0\0"))
    read(file)
    link.sendall(method(1, 20, 10, b"\0"))
    read(file)
    return link, file


def read(file):
    _, _, size = struct.unpack(">BHI", file.read(7))
    return file.read(size + 1)[:-1]


def declare(link, file, queue):
    link.sendall(method(1, 50, 10, b"\0\0" + short(queue) + b"\0" + long(b"")))
    read(file)


def hand_out():
    link, file = connected()
    number = 0
    while True:
        time.sleep(@{period_ms} / 1000)
        link.sendall(message(b"@{queue}.invoices", b"%d" % number))
        number += 1


def main():
    link, file = connected()
    declare(link, file, b"@{queue}")
    declare(link, file, b"@{queue}.invoices")
    link.sendall(method(1, 60, 20, b"\0\0" + short(b"@{queue}") + short(b"rates") + b"\2" + long(b"")))
    read(file)
    if "@{feed}" == "pushed":
        threading.Thread(target=hand_out, daemon=True).start()
    pathlib.Path("@{work}/rates.ready").touch()
    while True:
        read(file)
        head = read(file)
        body = read(file)
        # The properties are the correlation's id and the queue for the answer.
        at = 14 + 1 + head[14]
        correlation, answer_to = head[15:at], head[at + 1:at + 1 + head[at]]
        time.sleep(@{answer_ms} / 1000)
        link.sendall(message(answer_to, b"0.%d" % (50 + len(body) % 9), correlation))


main()
