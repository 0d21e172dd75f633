"""Tidies the notes that customers leave with their orders, and counts what they mention."""
import json
import re
import time

WORDS = "please leave at the door ring twice gift second floor".split()
TRAILING = re.compile(r"[ \t]+$", re.MULTILINE)
PATTERN = "@{pattern}"


def note(number):
    lines = []
    for line in range(@{lines}):
        words = [WORDS[(number * 7 + line * 3 + word) % len(WORDS)] for word in range(@{words})]
        # Pasted from a form with columns.
        words.insert(len(words) // 2, " " * (@{blanks} - number % 5 * (@{blanks} >> 5)))
        lines.append(" ".join(words) + " " * (number % 4))
    return "\n".join(lines)


def @{fn}(text):
    if PATTERN == "cut":
        return "\n".join(line.rstrip(" \t") for line in text.split("\n"))
    return TRAILING.sub("", text)


def main():
    units, busy, culprit, mentioned = 0, 0.0, 0.0, 0
    began = time.monotonic()
    while (start := time.monotonic()) - began < @{seconds}:
        text = note(units)
        asked = time.monotonic()
        tidy = @{fn}(text)
        culprit += time.monotonic() - asked
        mentioned += tidy.count("gift")
        units += 1
        busy += time.monotonic() - start
        time.sleep(max(0.0, began + units / @{rate} - time.monotonic()))
    with open("@{report}", "w") as out:
        json.dump({"units": units, "seconds": busy, "culprit": culprit}, out)
    print(mentioned)


main()
