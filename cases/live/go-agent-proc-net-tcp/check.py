"""What the case's profiles cannot say: check.py FOLDER prints each thing that is wrong with the rounds that the four versions made (were
all connections found?) and with the kinds of cost that `diff` tells of the first and the last."""
import json
import pathlib
import sys

folder = pathlib.Path(sys.argv[1])
found = {}
for version in ("fields", "goroutines", "racy", "position"):
    words = (folder / f"{version}.rounds").read_text().split()
    found[version] = int(words[3]), int(words[5])
wrong = []
for version, (inodes, there) in found.items():
    # Other programs' connections stand in the table too.
    if version != "racy" and inodes < there:
        wrong.append(f"{version} finds {inodes} of {there} inodes")
if found["racy"][0] >= found["racy"][1]:
    wrong.append("the racy version lost nothing")
kinds = json.loads((folder / "diff.json").read_text())["kinds"]
before, after = next(row["shares"] for row in kinds if row["name"] == "text parsing")
if after >= before:
    wrong.append(f"by diff text parsing has {before:.0%} before the fix, {after:.0%} after it")
for line in wrong:
    print(f"wrong: {line}")
sys.exit(bool(wrong))
