"""Checks the profiles of a slow program and its fix. Usage: profiled.py NAME REGEX FOLDER [RULE…]

Of the hot functions by the table of `top`, of the slow program's findings (each RULE is among them, none in the fixed one's), and of
what `diff` says by the work that each has done. Parts and ratios only: how fast the machine is, and what else it does, says nothing.
"""
import json
import pathlib
import re
import sys

name, hot, folder, rules = sys.argv[1], re.compile(sys.argv[2]), pathlib.Path(sys.argv[3]), sys.argv[4:]
MUCH, LITTLE = 30, 10
# A machine that is full gives a program few samples in two seconds: of these no rule judges.
MIN_SAMPLES = 100
wrong = []


def rows(version):
    """Function and its own share, in percent, by the table of `top`."""
    for line in (folder / f"{version}.top").read_text().splitlines():
        columns = line.split(maxsplit=5)
        if len(columns) == 6 and columns[1].endswith("%") and columns[4].endswith("%"):
            yield columns[5], float(columns[1].rstrip("%"))


def share(version):
    return sum(own for function, own in rows(version) if hot.search(function))


def found(version):
    return [finding["id"] for finding in json.loads((folder / f"{version}.json").read_text())["findings"]]


before, after = share("slow"), share("fixed")
if before < MUCH or after > LITTLE:
    wrong.append(f"{hot.pattern} has {before:.0f} % before the fix and {after:.0f} % after it")
diff = json.loads((folder / "diff.json").read_text())
samples = [step["samples"] for step in diff["steps"]]
enough = min(samples) >= MIN_SAMPLES
for rule in rules if enough else []:
    if rule not in found("slow"):
        wrong.append(f"{rule} is not found, but {', '.join(found('slow')) or 'nothing'}")
    if rule in found("fixed"):
        wrong.append(f"{rule} is still found in the fixed program")
change = diff["changes"][0]
if enough and (change["outcome"] != "better" or diff["best"] != 2):
    wrong.append(f"diff does not say that the fix is better, but {change['text']}")
if wrong:
    for line in wrong:
        print(f"live case: {name}: wrong: {line}")
    for version in ("slow", "fixed"):
        print(f"--- {version}\n" + "\n".join((folder / f"{version}.top").read_text().splitlines()[:25]))
    sys.exit(1)
told = f"{', '.join(rules)}; by diff the fix is better" if enough else f"{min(samples)} samples: rules and diff passed over: the machine is busy"
told = told.removeprefix("; ")
print(f"live case: {name}: ok ({hot.pattern}: {before:.0f} % of CPU before the fix, {after:.0f} % after it; {told})")
