#!/usr/bin/env python3
"""Picks a small corpus: small.py CONTROL BASE lists the files of libFuzzer's control file (of -set_cover_merge=1) that teach most for
their size beside those below the folder BASE, 60 files and 24 KiB at most."""

import os
import sys

MOST_FILES, MOST_BYTES = 60, 24 << 10


def main(control, base):
    with open(control, encoding="utf-8", errors="surrogateescape") as lines:
        lines = lines.read().splitlines()
    # How many files, how many of the first folder, their names; then what each reached, by its place.
    count = int(lines[0])
    names = lines[2 : 2 + count]
    features, known = {}, set()
    for line in lines[2 + count :]:
        kind, place, *rest = line.split()
        if kind == "FT":
            name = names[int(place)]
            if os.path.dirname(os.path.abspath(name)) == os.path.abspath(base):
                known.update(rest)
            else:
                features[name] = set(rest)
    sizes = {name: os.path.getsize(name) for name in features}
    left, picked = MOST_BYTES, 0
    while picked < MOST_FILES:
        features = {name: more for name, of in features.items() if sizes[name] <= left and (more := of - known)}
        if not features:
            break
        # A file costs something beside its bytes.
        best = min(features, key=lambda name: ((sizes[name] + 100) / len(features[name]), name))
        known |= features.pop(best)
        left, picked = left - sizes[best], picked + 1
        print(best)


if __name__ == "__main__":
    main(*sys.argv[1:])
