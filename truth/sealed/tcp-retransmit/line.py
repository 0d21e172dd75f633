"""A line to another house: line.py NET LOSS_PERCENT READY. NET.2 leads back to NET.1, by a device that goes with this process."""
import fcntl
import os
import random
import struct
import subprocess
import sys

NET, LOSS, READY = sys.argv[1], float(sys.argv[2]) / 100, sys.argv[3]
device = os.open("/dev/net/tun", os.O_RDWR)
name = fcntl.ioctl(device, 0x400454CA, struct.pack("16sH22x", b"", 0x1001))[:16].rstrip(b"\0").decode()
subprocess.run(["ip", "address", "add", f"{NET}.1/30", "dev", name], check=True)
subprocess.run(["ip", "link", "set", name, "up"], check=True)
open(READY, "w").close()
while True:
    packet = os.read(device, 65536)
    if packet[0] >> 4 != 4 or random.random() < LOSS:
        continue
    # From NET.1 to NET.2 becomes from NET.2 to NET.1; the checksums stay right.
    os.write(device, packet[:12] + packet[16:20] + packet[12:16] + packet[20:])
