import fcntl
import json
import os
import sys
import time

# How ripe the cheeses are, from what the scales booked and the climate of the cellar, whose sensor has a new value each millisecond.
path, hold, pause = sys.argv[1], float(sys.argv[2]) / 1000, float(sys.argv[3]) / 1000


def follow(until, records):
    humid = 0.8
    while time.monotonic() < until:
        humid = (humid * 7 + 0.1 * len(records)) % 1
        time.sleep(0.001)
    return humid


register = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
while True:
    # To follow the climate needs no register.
    follow(time.monotonic() + pause, [])
    fcntl.flock(register, fcntl.LOCK_EX)
    records = os.pread(register, 65536, 0)
    humid = follow(time.monotonic() + hold, records)
    fcntl.flock(register, fcntl.LOCK_UN)
    with open(path + ".ripe", "w") as out:
        json.dump({"humid": humid}, out)
