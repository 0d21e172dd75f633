"""Looks through the shards for what is new, and lets go of what was read."""
import os
import time

files = [os.open(f"@{work}/@{folder}/@{shard}.{number}", os.O_RDONLY) for number in range(@{count})]
while True:
    for file in files:
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        time.sleep(0.03 / len(files))
