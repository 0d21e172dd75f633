"""Tells the control centre of the ploughs which streets are shut or open again: a datagram each."""
import random
import socket
import time

chance, shut = random.Random(23), set()
line = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
while True:
    time.sleep(@{every} / 1000)
    street = chance.randrange(@{streets})
    shut ^= {street}
    line.sendto(b"%s %d" % (b"shut" if street in shut else b"open", street), ("127.0.0.1", @{notes}))
