"""Checks the quotas of tenants' volumes: a job names some, and is told what is left of each."""
import ctypes
import hashlib
import json
import os
import time

MS_BIND, MS_REC, MS_PRIVATE, CLONE_NEWNS = 0x1000, 0x4000, 0x40000, 0x20000
LIBC = ctypes.CDLL(None, use_errno=True)
ROOT = "@{work}/@{volumes}"
spent = 0.0


def mount(source, target, flags):
    if LIBC.mount(source.encode(), target.encode(), None, ctypes.c_ulong(flags), None):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), target)


def bring_up():
    """The volumes are in a name space of this program: they go with it."""
    if LIBC.unshare(CLONE_NEWNS):
        raise OSError(ctypes.get_errno(), "unshare")
    mount("none", "/", MS_REC | MS_PRIVATE)
    volumes = [os.path.join(ROOT, name) for name in sorted(os.listdir(ROOT))]
    for path in volumes:
        mount(path, path, MS_BIND)
    return volumes


def @{fn}(path):
    """The number of the mount at a path; None where there is none."""
    global spent
    asked = time.monotonic()
    found = None
    with open("/proc/self/mountinfo") as table:
        for line in table:
            fields = line.split()
            if fields[4] == path:
                found = int(fields[0])
    spent += time.monotonic() - asked
    return found


class Quotas:
    def __init__(self, volumes):
        self.volumes = volumes
        self.there = set(volumes)
        self.left = {}

    def is_mounted(self, path):
        if "@{table}" == "each":
            return @{fn}(path) is not None
        return path in self.there

    def check(self, path, job):
        free = os.statvfs(path)
        seal = f"{path} {job} {free.f_bavail}".encode()
        for _ in range(@{effort} * 250):
            seal = hashlib.sha256(seal).digest()
        self.left[path] = free.f_bavail * free.f_frsize, seal[:4].hex()

    def serve(self, job):
        for part in range(@{each}):
            path = self.volumes[(job * 31 + part * 7) % len(self.volumes)]
            if self.is_mounted(path):
                self.check(path, job)
            else:
                print(f"job {job}: {path} is not there")


def main():
    quotas = Quotas(bring_up())
    print(len(quotas.volumes), "volumes are up")
    units, busy, began = 0, 0.0, time.monotonic()
    due = began
    while time.monotonic() - began < @{seconds}:
        due = max(due + 1 / @{rate}, time.monotonic())
        time.sleep(max(0.0, due - time.monotonic()))
        start = time.monotonic()
        quotas.serve(units)
        busy += time.monotonic() - start
        units += 1
    with open("@{report}", "w") as out:
        json.dump({"units": units, "seconds": busy, "culprit": spent}, out)


main()
