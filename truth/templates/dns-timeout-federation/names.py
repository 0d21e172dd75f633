"""Two name servers: the first has its zone of its own or hands questions on to another, the second is its copy."""
import pathlib
import re
import socket
import threading

UNKNOWN = @{unknown}
SRV = 33
upstream = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)


def name_of(data):
    at, labels = 12, []
    while data[at]:
        labels.append(data[at + 1:at + 1 + data[at]].decode("latin-1"))
        at += data[at] + 1
    return labels, at


def packed(name):
    return b"".join(bytes([len(label)]) + label.encode() for label in name.split(".")) + b"\0"


def own(place, data, who):
    labels, at = name_of(data)
    question, kind = data[12:at + 5], data[at + 2]
    number = int(re.sub(r"\D", "", ".".join(labels)) or 0)
    if UNKNOWN and number % UNKNOWN == 0:
        place.sendto(data[:2] + b"\x81\x83\0\1\0\0\0\0\0\0" + question, who)
    elif kind != SRV:
        place.sendto(data[:2] + b"\x81\x80\0\1\0\0\0\0\0\0" + question, who)
    else:
        entries = b""
        for host in range(2):
            where = (host + 1).to_bytes(2, "big") + b"\0\x0a" + (5269).to_bytes(2, "big") + packed(f"xmpp{host}.@{zone}")
            entries += b"\xc0\x0c\0\x21\0\1\0\0\0\x3c" + len(where).to_bytes(2, "big") + where
        place.sendto(data[:2] + b"\x81\x80\0\1\0\2\0\0\0\0" + question + entries, who)


def @{fn2}(place, data, who):
    # The answer goes to who asked when the other server sends it.
    upstream.sendto(data, ("127.@{a}.@{b}.1", 53))


def serve(place, answer):
    while True:
        data, who = place.recvfrom(1500)
        answer(place, data, who)


def bound(address):
    place = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    place.bind((address, 53))
    return place


first, second = bound("@{ns}"), bound("@{second}")
threading.Thread(target=serve, args=(second, own), daemon=True).start()
pathlib.Path("@{work}/names.ready").touch()
serve(first, @{fn2} if "@{upstream}" == "forwarded" else own)
