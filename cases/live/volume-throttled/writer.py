"""Writes a file past the page cache for some seconds, a piece at a time, and waits for each: a database's log, a backup."""

import mmap
import os
import sys
import time

PIECE = 256 * 1024
PIECES = 64

path, seconds = sys.argv[1], float(sys.argv[2])
fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_DIRECT, 0o644)
# Direct I/O wants memory that begins at a page.
piece = mmap.mmap(-1, PIECE)
piece.write(os.urandom(PIECE))
written = 0
end = time.monotonic() + seconds
while time.monotonic() < end:
    os.pwrite(fd, piece, written % PIECES * PIECE)
    written += 1
print(f"{written * PIECE / seconds / 1e6:.1f} MB/s")
