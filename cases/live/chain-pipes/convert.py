"""Converts records on their way from one pipe to the next."""
import os

while record := os.read(0, 8192):
    record = record.upper()
    while record:
        record = record[os.write(1, record):]
