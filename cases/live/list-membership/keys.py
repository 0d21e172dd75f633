"""How many of a batch's keys are known? None is. For two seconds of CPU. `slow` asks a list, `fixed` a set."""
import sys
import time

known = list(range(1000, 21000))
if sys.argv[1] == "fixed":
    known = set(known)
end = time.process_time() + 2
found = batches = 0
while time.process_time() < end:
    # A look at the clock is a system call.
    for _ in range(10):
        batches += 1
        for key in range(30000, 32000, 37):
            found += key in known
print(f"{found} keys found in {batches} batches")
