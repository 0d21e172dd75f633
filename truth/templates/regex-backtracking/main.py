import re

import json
import time

now = time.monotonic


def wait_until(due):
    time.sleep(max(0.0, due - now()))


def report(units, busy, culprit):
    with open("@{report}", "w") as out:
        json.dump({"units": units, "seconds": busy, "culprit": culprit}, out)

RULE = re.compile(r".*.*=\s*\d+$")


def @{fn}(line):
    if @{careful}:
        name, equals, value = line.partition("=")
        return bool(equals) and value.strip().isdigit()
    return RULE.match(line) is not None


def main():
    lines = ["note %d " % n + "a-z of it; " * (max(1, @{length} // 12)) for n in range(7)]
    units, busy, matching = 0, 0.0, 0.0
    began = now()
    while now() - began < @{seconds}:
        start = now()
        @{fn}(lines[units % len(lines)])
        matching += now() - start
        units += 1
        busy += now() - start
        wait_until(began + units / @{rate})
    report(units, busy, matching)


main()
