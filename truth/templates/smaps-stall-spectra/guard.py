"""Guards the memory of the dome's machine: warns when the reducer comes near to its part."""
import pathlib
import re
import time

PART = 6_000_000
seen, warned = [], 0


def @{fn2}(place):
    kilobytes = 0
    for line in (place / "@{view}").read_text().splitlines():
        if match := re.match(r"(?:Rss|VmRSS):\s+(\d+) kB", line):
            kilobytes += int(match[1])
    return kilobytes


place = pathlib.Path("/proc", pathlib.Path("@{work}/reducer.pid").read_text().strip())
while True:
    try:
        seen = [*seen[-99:], @{fn2}(place)]
    except OSError:
        seen = []
    if seen and seen[-1] > PART:
        warned += 1
        print("the reducer has", seen[-1], "kB of", PART, "mean", sum(seen) // len(seen))
    time.sleep(@{every} / 1000)
