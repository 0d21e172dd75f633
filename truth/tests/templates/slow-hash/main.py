import hashlib
import json
import time


def @{fn}(record):
    value = record
    for _ in range(@{used}):
        value = hashlib.sha256(value).digest()
    return value


def main():
    units, busy, culprit = 0, 0.0, 0.0
    began = time.monotonic()
    while time.monotonic() - began < @{seconds}:
        start = time.monotonic()
        @{fn}(b"record %d" % units)
        culprit += time.monotonic() - start
        units += 1
        busy += time.monotonic() - start
        # The next one comes at its time.
        time.sleep(max(0.0, began + units / @{rate} - time.monotonic()))
    with open("@{report}", "w") as out:
        json.dump({"units": units, "seconds": busy, "culprit": culprit}, out)


main()
