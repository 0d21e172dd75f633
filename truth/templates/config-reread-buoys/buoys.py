"""The buoys of a harbour: each sends a report as a datagram, and its next one when the receiver has confirmed that (or after two seconds)."""
import random
import socket
import struct
import time

chance = random.Random(11)
radio = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
radio.bind(("127.0.0.1", @{air}))
open("@{work}/buoys.up", "w").close()
_, office = radio.recvfrom(100)
radio.settimeout(2)
number, due = 0, time.monotonic()
while True:
    number += 1
    levels = [int(chance.gauss(300, 120)) for _ in range(@{values})]
    report = struct.pack(f">IHH{@{values}}h", number, number % 23, @{values}, *levels)
    radio.sendto(report, office)
    try:
        radio.recv(100)
    except TimeoutError:
        pass
    except ConnectionRefusedError:
        break
    now = time.monotonic()
    due = max(due + 1 / @{rate}, now)
    time.sleep(due - now)
