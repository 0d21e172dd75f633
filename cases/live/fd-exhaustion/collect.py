"""Writes 200 files; with `leaky` without closing them: collect.py [leaky]."""
import sys

kept = []
for number in range(200):
    try:
        part = open(f"part.{number}", "w")
    except OSError:
        continue
    part.write("part\n")
    if sys.argv[1:] == ["leaky"]:
        kept.append(part)
    else:
        part.close()
