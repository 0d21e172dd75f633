"""Converts 20,000 records, and looks for each whether the settings have changed: convert.py SETTINGS [once]."""
import os
import sys

settings, once = sys.argv[1], sys.argv[2:] == ["once"]
changed = os.stat(settings).st_mtime
total = 0
with open("converted.out", "w") as out:
    for record in range(20_000):
        if not once and os.stat(settings).st_mtime != changed:
            sys.exit("settings changed: start again")
        out.write(f"{record * 17 % 101}\n")
