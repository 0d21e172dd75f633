"""Holds the lock of the store while it copies and syncs it. Stops before it begins, to be traced."""
import fcntl
import os
import signal
import sys
import time

LOCK, FILE = sys.argv[1], sys.argv[2]
os.kill(os.getpid(), signal.SIGSTOP)
for _ in range(8):
    with open(LOCK, "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        copy = os.open(FILE, os.O_CREAT | os.O_WRONLY, 0o600)
        for _ in range(25):
            os.write(copy, b"copy" * 100)
            os.fsync(copy)
        os.close(copy)
    time.sleep(0.002)
