"""Converts 60 items by a program each: items.py PATH PROGRAM."""
import os
import sys

os.environ["PATH"] = sys.argv[1]
for item in range(60):
    child = os.fork()
    if child == 0:
        os.execvp(sys.argv[2], [sys.argv[2], str(item)])
    os.waitpid(child, 0)
