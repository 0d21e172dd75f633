"""Watches a directory for a second: watch.py FOLDER [PAUSE_S]."""
import os
import sys
import time

pause = float(sys.argv[2]) if len(sys.argv) > 2 else 0.0
known = set(os.listdir(sys.argv[1]))
end = time.monotonic() + 1
while time.monotonic() < end:
    new = set(os.listdir(sys.argv[1])) - known
    if new:
        print(new)
    if pause:
        time.sleep(pause)
