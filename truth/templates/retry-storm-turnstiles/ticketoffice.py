"""The ticket office of the stadium: one clerk, who answers a datagram after the other. `ticket ID TICKET GATE` or `lamp GATE`."""
import collections
import pathlib
import socket
import time

desk = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
desk.bind(("127.0.0.1", @{office}))
pathlib.Path("@{work}/office.open").touch()
answered = collections.OrderedDict()
while True:
    asked, gate = desk.recvfrom(512)
    words = asked.decode().split()
    if words[0] == "lamp":
        desk.sendto(b"lamp green", gate)
        continue
    known = answered.get(words[1])
    time.sleep((@{checking} if known is None else @{known}) / 1000)
    if known is None:
        ticket = int(words[2])
        known = answered[words[1]] = f"ticket {words[1]} {'no' if ticket % 53 == 0 else 'yes'} {ticket % @{blocks} + 1}".encode()
        if len(answered) > 5000:
            answered.popitem(last=False)
    desk.sendto(known, gate)
