"""Answers 60 questions from a table: lookup.py TABLE [keep]."""
import pathlib
import sys

keep = sys.argv[2:] == ["keep"]
table = None
found = 0
for question in range(60):
    if table is None or not keep:
        table = pathlib.Path(sys.argv[1]).read_bytes()
    found += table.startswith(b"%d" % question)
print(found)
