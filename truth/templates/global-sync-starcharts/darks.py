"""Spools dark frames in strips; the strips of the frame before the last ones go."""
import os
import time

STRIPS = 120
strip = os.urandom((@{frame} << 20) // STRIPS)
number = 0
while True:
    for n in range(STRIPS):
        with open(f"@{work}/darks.{number}" + (f".{n}" if n else ""), "wb") as out:
            out.write(strip)
    old = number - 8
    for n in range(STRIPS if old >= 0 else 0):
        os.unlink(f"@{work}/darks.{old}" + (f".{n}" if n else ""))
    number += 1
    time.sleep(@{every})
