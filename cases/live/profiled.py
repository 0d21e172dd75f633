"""Checks the profiles of a slow program and its fix. Usage: profiled.py NAME REGEX FOLDER"""
import pathlib
import re
import sys

name, hot, folder = sys.argv[1], re.compile(sys.argv[2]), pathlib.Path(sys.argv[3])
MUCH, LITTLE = 30, 10


def rows(version):
    """Function and its own share, in percent, by the table of `top`."""
    for line in (folder / f"{version}.top").read_text().splitlines():
        columns = line.split(maxsplit=5)
        if len(columns) == 6 and columns[1].endswith("%") and columns[4].endswith("%"):
            yield columns[5], float(columns[1].rstrip("%"))


def share(version):
    return sum(own for function, own in rows(version) if hot.search(function))


before, after = share("slow"), share("fixed")
if before < MUCH or after > LITTLE:
    print(f"live case: {name}: wrong: {hot.pattern} has {before:.0f} % before the fix and {after:.0f} % after it")
    for version in ("slow", "fixed"):
        print(f"--- {version}\n" + "\n".join((folder / f"{version}.top").read_text().splitlines()[:25]))
    sys.exit(1)
print(f"live case: {name}: ok ({hot.pattern}: {before:.0f} % of CPU before the fix, {after:.0f} % after it)")
