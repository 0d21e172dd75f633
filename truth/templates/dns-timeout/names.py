import pathlib
import re
import socket

EVERY, UNKNOWN = @{every}, @{unknown}
seen = set()
place = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
place.bind(("@{ns}", 53))
pathlib.Path("@{work}/names.ready").touch()
while True:
    data, who = place.recvfrom(1500)
    at, labels = 12, []
    while data[at]:
        labels.append(data[at + 1:at + 1 + data[at]].decode())
        at += data[at] + 1
    question, kind = data[12:at + 5], data[at + 2]
    name = ".".join(labels)
    number = int(re.sub(r"\D", "", labels[0]) or 0)
    if EVERY and number % EVERY == 0 and name not in seen:
        seen.add(name)
        continue
    if UNKNOWN and number % UNKNOWN == 0:
        place.sendto(data[:2] + b"\x81\x83\0\1\0\0\0\0\0\0" + question, who)
    elif kind == 1:
        place.sendto(data[:2] + b"\x81\x80\0\1\0\1\0\0\0\0" + question + b"\xc0\x0c\0\1\0\1\0\0\0\x05\0\x04\x7f\0\0\1", who)
    else:
        place.sendto(data[:2] + b"\x81\x80\0\1\0\0\0\0\0\0" + question, who)
