"""Makes the control group, and takes it away when it is told to end or left alone."""
import os
import pathlib
import signal
import sys
import time

GROUP = pathlib.Path("/sys/fs/cgroup/cpu/@{group}-" + os.path.basename("@{work}")[-8:])


def remove(*_):
    end = time.monotonic() + 1.8
    while GROUP.is_dir() and time.monotonic() < end:
        try:
            (GROUP / "cpu.cfs_quota_us").write_text("-1")
            for pid in (GROUP / "cgroup.procs").read_text().split():
                try:
                    (GROUP.parent / "cgroup.procs").write_text(pid)
                except OSError:
                    pass
            GROUP.rmdir()
        except OSError:
            time.sleep(0.02)
    sys.exit(0)


def main():
    parent = os.getppid()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, remove)
    GROUP.mkdir(exist_ok=True)
    (GROUP / "cpu.cfs_period_us").write_text("100000")
    (GROUP / "cpu.cfs_quota_us").write_text("@{quota_us}")
    os.symlink(GROUP, "@{work}/limits")
    end = time.monotonic() + @{seconds} + 120
    while time.monotonic() < end and os.getppid() == parent:
        time.sleep(0.5)
    remove()


main()
