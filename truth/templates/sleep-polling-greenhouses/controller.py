import pathlib
import socket
import time

line = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
line.bind(("127.0.0.1", @{field}))
pathlib.Path("@{work}/controller.ready").touch()
while True:
    text, who = line.recvfrom(500)
    ticket, verb, bay, level = text.decode().split()
    time.sleep(@{answer_ms} / 1000)
    line.sendto(f"{ticket} {verb} {bay} {int(level) % 100} {17 + int(bay) % 9}".encode(), who)
