"""Reads a file from its start to its end again and again, for some seconds: reader.py FILE SECONDS."""
import os
import sys
import time

end = time.monotonic() + float(sys.argv[2])
rounds = 0
with open(sys.argv[1], "rb", buffering=0) as file:
    while time.monotonic() < end:
        file.seek(0)
        while file.read(65_536) and time.monotonic() < end:
            pass
        rounds += 1
print(f"{rounds} rounds")
