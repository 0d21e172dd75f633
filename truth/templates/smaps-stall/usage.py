"""Watches how much memory the server has."""
import os
import time

while not os.path.exists("@{work}/server.pid"):
    time.sleep(0.02)
time.sleep(0.05)
pid = int(open("@{work}/server.pid").read())
while True:
    try:
        with open("/proc/%d/@{table}" % pid) as table:
            size = sum(int(line.split()[1]) for line in table if line.startswith("Rss:"))
    except OSError:
        break
    time.sleep(@{every})
