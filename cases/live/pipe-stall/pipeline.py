"""Two processes and a pipe: pipeline.py [running]. The parent writes records, its child signs them: for each block of 4 KiB the sum
over all of the record up to there, taken anew each time or (running) carried on."""
import hashlib
import os
import sys

RUNNING = "running" in sys.argv[1:]
RECORDS, SIZE, BLOCK = 160, 256 * 1024, 4096


def sums(record):
    if RUNNING:
        sha = hashlib.sha256()
        for start in range(0, len(record), BLOCK):
            sha.update(record[start:start + BLOCK])
            yield sha.digest()
    else:
        for start in range(0, len(record), BLOCK):
            yield hashlib.sha256(record[:start + BLOCK]).digest()


def sign(records):
    """Signs what comes, until the writer has closed."""
    signatures = [list(sums(record)) for record in iter(lambda: records.read(SIZE), b"")]
    print(len(signatures), "records signed")


reading, writing = os.pipe()
if os.fork() == 0:
    os.close(writing)
    with os.fdopen(reading, "rb") as records:
        sign(records)
    sys.exit()
os.close(reading)
for number in range(RECORDS):
    left = memoryview(os.urandom(SIZE))
    while left:
        left = left[os.write(writing, left):]
os.close(writing)
os.wait()
