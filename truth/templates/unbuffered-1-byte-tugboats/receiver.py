"""The receiver on the mast: gives the messages that came in since it was asked the last time. `key` gives one letter of what the guard typed."""
import os
import random
import socket
import threading

chance = random.Random(@{some})
letters = "0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVW`abcdefghijklmnopqrstuvw"


def message():
    text = "!AIVDM,1,1,,A," + "".join(chance.choices(letters, k=@{length})) + ",0*"
    return text + f"{sum(map(ord, text)) % 256:02X}\n"


ready = ["".join(message() for _ in range(@{some})).encode() + b"\n" for _ in range(8)]


def serve(line):
    number = 0
    for question in line.makefile("r"):
        line.sendall(b"+" if question.startswith("key") else ready[number % 8])
        number += 1


path = "@{work}/@{line}"
if os.path.exists(path):
    os.remove(path)
server = socket.socket(socket.AF_UNIX)
server.bind(path)
server.listen()
while True:
    threading.Thread(target=serve, args=(server.accept()[0],), daemon=True).start()
