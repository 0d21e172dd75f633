"""What the host does meanwhile: a busy neighbour, a CPU quota, a full disk. Each is a context that takes away what it made."""
import contextlib
import os
import pathlib
import subprocess
import sys
import time

# CPU time that a target under a quota may take: ms of each 100 ms.
QUOTA_MS = 40
PERIOD_MS = 100
# The full disk: its size, and what is left free on it.
DISK_BYTES = 8 << 30
DISK_FREE = 300 << 20


class Unavailable(Exception):
    """This machine cannot do it."""


@contextlib.contextmanager
def neighbour():
    """One process that computes all of the time."""
    busy = subprocess.Popen([sys.executable, "-c", "while True: pass"], stdin=subprocess.DEVNULL)
    try:
        yield
    finally:
        busy.kill()
        busy.wait()


@contextlib.contextmanager
def quota():
    """A control group with a CPU quota; yields the command that puts another one into it."""
    old, new = pathlib.Path("/sys/fs/cgroup/cpu"), pathlib.Path("/sys/fs/cgroup")
    is_old = (old / "cpu.cfs_quota_us").exists()
    group = (old if is_old else new) / f"whyslow-truth-{os.getpid()}"
    try:
        group.mkdir()
        if is_old:
            (group / "cpu.cfs_period_us").write_text(str(PERIOD_MS * 1000))
            (group / "cpu.cfs_quota_us").write_text(str(QUOTA_MS * 1000))
        else:
            (group / "cpu.max").write_text(f"{QUOTA_MS * 1000} {PERIOD_MS * 1000}")
        # A server that is started as another user enters it by itself.
        (group / "cgroup.procs").chmod(0o666)
    except OSError as error:
        raise Unavailable(f"no CPU quota here: {error}") from error
    try:
        yield ["sh", "-c", f'echo $$ > {group}/cgroup.procs; exec "$@"', "sh"]
    finally:
        removed(group)


def removed(group):
    """Removes a control group when its last process has gone."""
    for _ in range(100):
        try:
            group.rmdir()
            return
        except OSError:
            time.sleep(0.05)


@contextlib.contextmanager
def full_disk(kept):
    """A file system of its own that is nearly full; yields its folder."""
    image, folder = kept / "disk.img", kept / "disk"
    folder.mkdir(exist_ok=True)
    with open(image, "wb") as made:
        made.truncate(DISK_BYTES)
    try:
        subprocess.run(["mkfs.ext4", "-q", "-F", "-m", "0", str(image)], check=True, capture_output=True)
        subprocess.run(["mount", "-o", "loop", str(image), str(folder)], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        image.unlink()
        raise Unavailable(f"no file system in a file here: {error}") from error
    try:
        free = os.statvfs(folder)
        filler = free.f_bavail * free.f_frsize - DISK_FREE
        with open(folder / "archive", "wb") as archive:
            os.posix_fallocate(archive.fileno(), 0, filler)
        os.chmod(folder, 0o755)
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=False)
        image.unlink(missing_ok=True)


@contextlib.contextmanager
def as_said(host, kept):
    """The host of a condition: yields (command to wrap the target with, folder for the run)."""
    with contextlib.ExitStack() as stack:
        wrap, folder = [], kept
        if host == "neighbour":
            stack.enter_context(neighbour())
        elif host == "quota":
            wrap = stack.enter_context(quota())
        elif host == "full-disk":
            folder = stack.enter_context(full_disk(kept))
        yield wrap, folder
