import pathlib
import re
import select
import socket

UNKNOWN = @{unknown}


def server(address):
    place = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    place.bind((address, 53))
    return place


def answer(data):
    at, labels = 12, []
    while data[at]:
        labels.append(data[at + 1:at + 1 + data[at]].decode())
        at += data[at] + 1
    question, kind = data[12:at + 5], data[at + 2]
    number = int(re.sub(r"\D", "", labels[0]) or 0)
    if UNKNOWN and number % UNKNOWN == UNKNOWN - 1:
        return data[:2] + b"\x81\x83\0\1\0\0\0\0\0\0" + question
    if kind == 1:
        return data[:2] + b"\x81\x80\0\1\0\1\0\0\0\0" + question + b"\xc0\x0c\0\1\0\1\0\0\0\x3c\0\x04\x0a\1" + bytes([number // 250 % 250, number % 250 + 1])
    return data[:2] + b"\x81\x80\0\1\0\0\0\0\0\0" + question


dead, alive = server("@{gone}"), server("@{alive}")
pathlib.Path("@{work}/names.ready").touch()
while True:
    for place in select.select([dead, alive], [], [])[0]:
        data, who = place.recvfrom(1500)
        if place is alive:
            place.sendto(answer(data), who)
