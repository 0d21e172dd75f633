import pathlib
import socket
import time

here = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
here.bind(("@{ns}", 53))
pathlib.Path("@{work}/names.ready").touch()
while True:
    asked, who = here.recvfrom(2000)
    at, name = 12, ""
    while asked[at]:
        name += asked[at + 1:at + 1 + asked[at]].decode().lower() + "."
        at += asked[at] + 1
    family, question = asked[at + 2], asked[12:at + 5]
    time.sleep(@{delay} / 1000)
    if not name.endswith("@{zone}."):
        flags, answers = b"\x81\x83", b""
    elif family == 1:
        flags, answers = b"\x81\x80", b"\xc0\x0c\0\1\0\1\0\0\0\x1e\0\x04\x7f\0\0\1"
    else:
        flags, answers = b"\x81\x80", b"\xc0\x0c\0\x1c\0\1\0\0\0\x1e\0\x10" + bytes(15) + b"\1"
    here.sendto(asked[:2] + flags + b"\0\1\0" + bytes([bool(answers)]) + b"\0\0\0\0" + question + answers, who)
