"""Checks the profiles of the four versions against the truth. Usage: check.py NAME FOLDER"""
import json
import pathlib
import sys

name, folder = sys.argv[1], pathlib.Path(sys.argv[2])
READER = {"fields": "main.readByFields", "goroutines": "main.readByGoroutines", "racy": "main.readRacy", "position": "main.readByPosition"}
wrong = []


def share(version, by, function):
    """Percent of the time in a function and what it calls, by the table of `top`."""
    for line in (folder / f"{version}.{by}.top").read_text().splitlines():
        columns = line.split(maxsplit=5)
        if len(columns) == 6 and columns[5].removesuffix(" (inline)") == function:
            return float(columns[4].rstrip("%"))
    return 0.0


def rounds(version):
    words = (folder / f"{version}.rounds").read_text().split()
    return int(words[1]), int(words[3]), int(words[5])


for version, reader in READER.items():
    for by in ("http", "pid"):
        # Of a goroutine a line the work is in the goroutines.
        named = share(version, by, reader) + share(version, by, reader + ".func1")
        if named < 40:
            wrong.append(f"{version}, by {by}: {reader} has {named:.0f} % of the time")
for by in ("http", "pid"):
    before, after = share("fields", by, "strings.Fields"), share("position", by, "strings.Fields")
    if before < 3 or after > 0:
        wrong.append(f"by {by}: strings.Fields has {before:.1f} % before the fix, {after:.1f} % after it")
diff = json.loads((folder / "diff.json").read_text())
# A machine that is full gives few samples: of these no rule judges.
if min(step["samples"] for step in diff["steps"]) >= 100:
    before, after = next(row["shares"] for row in diff["kinds"] if row["name"] == "text parsing")
    if after >= before:
        wrong.append(f"by diff text parsing has {before:.0%} before the fix, {after:.0%} after it")
    findings = json.loads((folder / "fields.pid.json").read_text())["findings"]
    named = [finding["subject"]["function"] for finding in findings if finding["id"] == "text-parsing"]
    if READER["fields"] not in named:
        wrong.append(f"text-parsing does not name {READER['fields']} in fields.pid.pprof, but {named}")
found = {version: rounds(version) for version in READER}
for version in ("fields", "goroutines", "position"):
    _, inodes, there = found[version]
    # Other programs' connections stand in the table too.
    if inodes < there:
        wrong.append(f"{version} finds {inodes} of {there} inodes")
_, inodes, there = found["racy"]
if inodes >= there:
    wrong.append("the racy version lost nothing")
for line in wrong:
    print(f"live case: {name}: wrong: {line}")
if wrong:
    for table in sorted(folder.glob("*.top")):
        print(f"--- {table}\n" + "\n".join(table.read_text().splitlines()[:25]))
    sys.exit(1)
print(
    f"live case: {name}: ok (strings.Fields {share('fields', 'pid', 'strings.Fields'):.0f} % from outside, "
    f"{share('fields', 'http', 'strings.Fields'):.0f} % by net/http/pprof, gone with the fix; "
    f"not faster but less done: the racy version finds {inodes:,} of {there:,} inodes)"
)
