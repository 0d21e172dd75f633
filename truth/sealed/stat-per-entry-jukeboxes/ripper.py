"""Puts a track onto one shelf after another, and takes the one that it put there before away."""
import os
import sys
import time

collection, shelves = sys.argv[1], int(sys.argv[2])
open(sys.argv[3], "w").close()
n = 0
while True:
    shelf = f"{collection}/shelf{n % shelves}"
    open(f"{shelf}/ripped-{n}.flac", "w").close()
    if n >= shelves:
        os.unlink(f"{shelf}/ripped-{n - shelves}.flac")
    n += 1
    time.sleep(0.005)
