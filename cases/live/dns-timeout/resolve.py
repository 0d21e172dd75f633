"""Resolves two names as glibc does with `options timeout:1 attempts:2`: resolve.py SERVER."""
import select
import socket
import sys

for number, name in enumerate(["feed.example.com", "user.example.com"]):
    question = b"".join(b"%c%s" % (len(label), label.encode()) for label in name.split(".")) + b"\0\0\1\0\1"
    query = number.to_bytes(2, "big") + b"\1\0\0\1\0\0\0\0\0\0" + question
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as resolver:
        resolver.connect((sys.argv[1], 53))
        waiting = select.poll()
        waiting.register(resolver, select.POLLIN)
        for attempt in range(2):
            resolver.send(query)
            if waiting.poll(1000):
                print(name, resolver.recv(512)[-4:].hex())
                break
