import pathlib
import socket
import threading
import time


def pagers():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as radio:
        radio.bind(("127.0.0.1", @{page}))
        while True:
            radio.recv(2000)


threading.Thread(target=pagers, daemon=True).start()
door = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
door.bind(("@{ns}", 53))
pathlib.Path("@{work}/names.ready").touch()
while True:
    question, who = door.recvfrom(1500)
    at, labels = 12, []
    while question[at]:
        labels.append(question[at + 1:at + 1 + question[at]].decode().lower())
        at += question[at] + 1
    kind, asked = question[at + 2], question[12:at + 5]
    time.sleep(@{delay} / 1000)
    if not ".".join(labels).endswith("@{zone}"):
        door.sendto(question[:2] + b"\x81\x83\0\1\0\0\0\0\0\0" + asked, who)
    elif kind == 1:
        door.sendto(question[:2] + b"\x81\x80\0\1\0\1\0\0\0\0" + asked + b"\xc0\x0c\0\1\0\1\0\0\0\x0a\0\x04\x7f\0\0\1", who)
    else:
        door.sendto(question[:2] + b"\x81\x80\0\1\0\0\0\0\0\0" + asked, who)
