"""A link to another place: tunnel.py READY NET PORT LOSS_PERCENT EVERY DELAY_MS KB_PER_S MTU. Who connects to NET.2 arrives at NET.1, where PORT listens; each
packet goes over the link. LOSS_PERCENT of them are lost at random, and each EVERYth (0: none); KB_PER_S is the width of each direction (0: no limit)."""
import collections
import fcntl
import os
import random
import select
import socket
import struct
import sys
import time

ready, net, port, loss, every, delay, width, mtu = sys.argv[1:]
port, loss, every, delay, width = int(port), float(loss) / 100, int(every), float(delay) / 1000, float(width) * 1000

tun = os.open("/dev/net/tun", os.O_RDWR)
name = fcntl.ioctl(tun, 0x400454CA, struct.pack("16sH22x", b"link%d", 0x1001))[:16]
control = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for code, host in ((0x8916, ".1"), (0x8918, ".2")):
    fcntl.ioctl(control, code, struct.pack("16sHH4s16x", name, socket.AF_INET, 0, socket.inet_aton(net + host)))
fcntl.ioctl(control, 0x8922, struct.pack("16si20x", name, int(mtu)))
fcntl.ioctl(control, 0x8914, struct.pack("16sH22x", name, 0x41))
open(ready, "w").close()

number, free, lines = 0, {True: 0.0, False: 0.0}, {True: collections.deque(), False: collections.deque()}
while True:
    now, wait = time.monotonic(), 10.0
    for line in lines.values():
        while line and line[0][0] <= now:
            os.write(tun, line.popleft()[1])
        if line:
            wait = min(wait, line[0][0] - now)
    if not select.select([tun], [], [], wait)[0]:
        continue
    packet = os.read(tun, 1 << 16)
    if packet[0] >> 4 != 4 or packet[9] != 6:
        continue
    head = (packet[0] & 15) * 4
    down = struct.unpack_from(">H", packet, head)[0] == port
    if not packet[head + 13] & 2:
        number += 1
        if random.random() < loss or every and number % every == every // 2:
            continue
    now = time.monotonic()
    free[down] = max(free[down], now) + (len(packet) / width if width else 0)
    # The other end is here too: what was sent to .2 comes from there.
    lines[down].append((free[down] + delay, packet[:12] + packet[16:20] + packet[12:16] + packet[20:]))
