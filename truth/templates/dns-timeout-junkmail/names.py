"""The name server of the house: has the answers of the lists, or asks their own servers for them."""
import pathlib
import socket

place = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
upstream = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)


def labels_of(data):
    at, labels = 12, []
    while data[at]:
        labels.append(data[at + 1:at + 1 + data[at]].decode("latin-1").lower())
        at += data[at] + 1
    return labels, at


def answer(data, who):
    labels, at = labels_of(data)
    question, kind = data[12:at + 5], data[at + 2]
    on_list = labels[0].isdigit() and int(labels[0]) % @{listed} == 0
    if not on_list:
        place.sendto(data[:2] + b"\x81\x83\0\1\0\0\0\0\0\0" + question, who)
    elif kind != 1:
        place.sendto(data[:2] + b"\x81\x80\0\1\0\0\0\0\0\0" + question, who)
    else:
        entry = b"\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4" + bytes([127, 0, 0, 2])
        place.sendto(data[:2] + b"\x81\x80\0\1\0\1\0\0\0\0" + question + entry, who)


def @{fn2}(data, who):
    # The answer goes to who asked when the list's server sends it.
    upstream.sendto(data, ("127.@{a}.@{b}.1", 53))


def main():
    place.bind(("@{ns}", 53))
    pathlib.Path("@{work}/names.ready").touch()
    while True:
        data, who = place.recvfrom(1500)
        labels, _ = labels_of(data)
        if ".".join(labels).endswith("@{closed}") and "@{upstream}" == "gone":
            @{fn2}(data, who)
        else:
            answer(data, who)


main()
