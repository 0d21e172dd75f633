"""The controllers of a video wall: take packets, and show what is in them."""
import socket

wall = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
wall.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
wall.bind(("127.0.0.1", @{wall}))
open("@{work}/wall.ready", "w").close()
shown = {}
while True:
    packet = wall.recv(2048)
    shown[int.from_bytes(packet[4:8], "little")] = packet[8:]
