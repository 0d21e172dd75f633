"""Keeps records from its standard input. `each` makes each record safe by itself; else a thousand at a time."""
import os
import sys

log = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
count = 0


def keep(record):
    global count
    os.write(log, record)
    count += 1
    if sys.argv[2] == "each" or count % 1000 == 0:
        os.fsync(log)
    if count % 20_000 == 0:
        os.ftruncate(log, 0)


while record := os.read(0, 4096):
    keep(record)
