"""A name server of the house. What it does not know by itself it asks the one upstream for: names.py ADDRESS FORWARDER."""
import pathlib
import re
import socket
import sys

address, forwarder = sys.argv[1:]
place = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
upstream = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
waiting = {}


def question_of(data):
    at, labels = 12, []
    while data[at]:
        labels.append(data[at + 1:at + 1 + data[at]].decode("latin-1").lower())
        at += data[at] + 1
    return labels, data[12:at + 5]


def answer(data, who):
    labels, question = question_of(data)
    number = re.search(r"\d+", labels[0])
    if number is None or int(number.group()) % @{strangers} == @{strangers} - 1:
        place.sendto(data[:2] + b"\x81\x83\0\1\0\0\0\0\0\0" + question, who)
        return
    text = b"owner=%s" % number.group().encode()
    entry = b"\xc0\x0c\0\x10\0\1\0\0\0\x3c" + (len(text) + 1).to_bytes(2, "big") + bytes([len(text)]) + text
    place.sendto(data[:2] + b"\x81\x80\0\1\0\1\0\0\0\0" + question + entry, who)


def @{fn2}(data, who):
    # The answer goes to who asked when the one upstream sends it.
    waiting[data[:2]] = who
    upstream.sendto(data, ("127.@{a}.@{b}.1", 5300))


def main():
    place.bind((address, 53))
    pathlib.Path(f"@{work}/names-{address}").touch()
    while True:
        data, who = place.recvfrom(1500)
        try:
            if forwarder == "gone":
                @{fn2}(data, who)
            else:
                answer(data, who)
        except ConnectionError:
            pass


main()
