"""Knows the names of addresses; most of them have to be asked for far away."""
import random
import socket
import threading
import time

server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
server.bind(("@{ns}", 53))
open("@{work}/names.ready", "w").close()


def answer(query, asker):
    time.sleep(@{delay_ms} / 1000 * random.uniform(0.7, 1.3))
    end, labels = 12, []
    while query[end]:
        labels.append(query[end + 1:end + 1 + query[end]])
        end += query[end] + 1
    question = query[12:end + 5]
    name = b"host-" + b"-".join(reversed(labels[:4])) + b".@{zone}"
    target = b"".join(bytes([len(label)]) + label for label in name.split(b".")) + b"\0"
    record = b"\xc0\x0c\x00\x0c\x00\x01\x00\x00\x00\x3c" + len(target).to_bytes(2, "big") + target
    server.sendto(query[:2] + b"\x81\x80\x00\x01\x00\x01\x00\x00\x00\x00" + question + record, asker)


while True:
    query, asker = server.recvfrom(1500)
    threading.Thread(target=answer, args=(query, asker), daemon=True).start()
