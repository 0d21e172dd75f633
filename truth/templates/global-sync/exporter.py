"""A neighbour on the same disk: writes its export over and over, and leaves it to the kernel when."""
import time

block = bytes(range(256)) * 256
with open("@{work}/@{exports}", "wb", buffering=0) as out:
    begin, written = time.monotonic(), 0
    while True:
        if out.tell() > 60 << 20:
            out.seek(0)
        out.write(block)
        written += len(block)
        time.sleep(max(0.002, begin + written / (@{mb_s} * 1e6) - time.monotonic()))
