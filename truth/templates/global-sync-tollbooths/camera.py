"""The camera of the lanes: writes its film in a ring, and lets the kernel choose when it goes to the disk."""
import os
import time

FRAME = os.urandom(256 << 10)
FRAMES = 320
with open("@{work}/camera.new", "wb", buffering=0) as film:
    for _ in range(FRAMES):
        film.write(FRAME)
    os.fsync(film.fileno())
    os.rename("@{work}/camera.new", "@{work}/@{film}")
    begin, shot = time.monotonic(), 0
    while True:
        film.seek(shot % FRAMES * len(FRAME))
        film.write(FRAME)
        shot += 1
        time.sleep(max(0.001, begin + shot * len(FRAME) / (@{mb_s} * 1e6) - time.monotonic()))
