"""The controllers of the sluices, behind one radio. A question: transaction, 0, 6, unit and register (2, 2, 2, 1, 2 bytes). An answer: the same, and the level."""
import os
import socket
import struct
import time

radio = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
radio.bind(("127.0.0.1", @{plc}))
with open("@{work}/controllers.pid", "w") as file:
    print(os.getpid(), file=file)
while True:
    question, sender = radio.recvfrom(256)
    transaction, _, _, unit, register = struct.unpack(">HHHBH", question)
    time.sleep(@{answer} / 1000)
    radio.sendto(struct.pack(">HHHBHH", transaction, 0, 8, unit, register, (transaction * 37 + unit * 211) % 4000), sender)
