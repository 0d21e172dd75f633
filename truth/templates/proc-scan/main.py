"""Moves finished uploads away, if nobody has them open any more."""
import hashlib
import json
import os
import time

spent = 0.0
seen = {}


def @{fn}(path):
    """The processes that have it open."""
    global spent
    began = time.monotonic()
    if "at" in seen and began - seen["at"] < @{period}:
        return seen["users"]
    users = []
    for pid in os.listdir("/proc"):
        if not pid.isdigit():
            continue
        try:
            for number in os.listdir("/proc/%s/fd" % pid):
                if os.readlink("/proc/%s/fd/%s" % (pid, number)) == path:
                    users.append(pid)
        except OSError:
            continue
    seen.update(at=began, users=users)
    spent += time.monotonic() - began
    return users


def @{fn2}(name, rounds):
    digest = name.encode()
    for _ in range(rounds):
        digest = hashlib.sha256(digest * 20).digest()
    return digest


def main():
    global spent
    units, busy = 0, 0.0
    @{fn}("@{work}/none")
    spent = 0.0
    began = time.monotonic()
    while time.monotonic() - began < @{seconds}:
        start = time.monotonic()
        if not @{fn}("@{work}/upload-%d" % units):
            @{fn2}("upload-%d" % units, @{extra} * 30)
        units += 1
        busy += time.monotonic() - start
        time.sleep(max(0.0, began + units / @{rate} - time.monotonic()))
    with open("@{report}", "w") as out:
        json.dump({"units": units, "seconds": busy, "culprit": spent}, out)


main()
