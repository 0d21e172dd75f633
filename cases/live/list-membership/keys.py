"""How many of a batch's keys are known? None is. For two seconds. `slow` asks a list, `fixed` a set."""
import sys
import time

known = list(range(1000, 21000))
if sys.argv[1] == "fixed":
    known = set(known)
end = time.monotonic() + 2
found = batches = 0
while time.monotonic() < end:
    batches += 1
    for key in range(30000, 32000, 37):
        found += key in known
print(f"{found} keys found in {batches} batches")
