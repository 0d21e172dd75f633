"""Copies the ledger now and then. `locked` keeps the lock while the copy is checked; else the copy alone is made under it."""
import fcntl
import hashlib
import sys
import time

ledger = open(sys.argv[1], "rb")


def check_copy(copy):
    digest = b""
    for _ in range(60_000):
        digest = hashlib.sha256(digest + copy[:2048]).digest()
    return digest


while True:
    fcntl.flock(ledger, fcntl.LOCK_EX)
    ledger.seek(0)
    copy = ledger.read()
    if sys.argv[2] == "locked":
        check_copy(copy)
    fcntl.flock(ledger, fcntl.LOCK_UN)
    if sys.argv[2] != "locked":
        check_copy(copy)
    time.sleep(0.02)
