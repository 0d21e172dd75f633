"""What the suites of scripts below cases/live share: how they are asked, how long a test may take, and an end that leaves nothing behind.

A suite is a script with tests by name; `cargo xtask test` and people ask all of them alike:
  SCRIPT [OPTIONS] --list        a line a test: its name, a tab, its weight
  SCRIPT [OPTIONS] --run NAME    that test; status 0: it passed, or was skipped if a line begins with `skipped: `; else it failed
  SCRIPT [OPTIONS] NAME… | --all by hand: side by side as far as the weights allow
The weight is `alone` (nothing may run beside it: it is bound by the CPU or the disk, or judges the whole machine) or the quarters of a
CPU that it takes while it waits for timers, peers and locks.
"""
import concurrent.futures
import ctypes
import hashlib
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
WHYSLOW = os.environ.get("WHYSLOW", str(ROOT / "target/release/whyslow"))
# Programs and what else is kept from run to run.
BUILT = ROOT / "target/live-build"
PR_SET_CHILD_SUBREAPER = 36
# What a test that was asked to end may take to clean up.
GRACE_S = 5


class Skip(Exception):
    """This machine cannot show it."""


class Wrong(Exception):
    """Something that must hold does not."""


def must(true, what):
    if not true:
        raise Wrong(what)


class Test:
    """A test: `check` returns what it found, or raises Skip or Wrong."""

    def __init__(self, name, check, weight="alone", limit_s=100):
        self.name, self.check, self.weight, self.limit_s = name, check, weight, limit_s


def descendants():
    """All processes below this one, parents first."""
    children = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                stat = pathlib.Path(entry.path, "stat").read_text(errors="replace")
            except OSError:
                continue
            parent = int(stat.rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(entry.name))
    found, below = [], [os.getpid()]
    while below:
        below = [child for parent in below for child in children.get(parent, [])]
        found += below
    return found


def end_all():
    """Ends all that this process has started, however it was detached, and takes their statuses."""
    while True:
        for pid in descendants():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
            time.sleep(0.01)
        except ChildProcessError:
            return


def compiled(source, *options):
    """The program of a C file; made once for each state of the file, and for all who ask at once."""
    key = hashlib.sha256(repr(options).encode() + source.read_bytes()).hexdigest()[:16]
    program = BUILT / source.stem / key
    if not program.exists():
        program.parent.mkdir(parents=True, exist_ok=True)
        made = program.with_suffix(f".{os.getpid()}")
        subprocess.run(["cc", *options, "-o", str(made), str(source)], check=True)
        made.replace(program)
    return program


def cannot_record():
    """Why whyslow cannot record here, or None. Where its own check says that BPF works there is no excuse."""
    must(os.access(WHYSLOW, os.X_OK), f"no {WHYSLOW}: build it first (cargo build -p whyslow), or name it (WHYSLOW=)")
    # That it can is remembered for this binary until the next boot; that it cannot is asked each time.
    binary, boot = os.stat(WHYSLOW), pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    known = BUILT / "doctor" / f"{binary.st_ino}-{binary.st_mtime_ns}-{os.getuid()}-{boot}"
    if known.exists():
        return None
    doctor = subprocess.run([WHYSLOW, "doctor"], capture_output=True, text=True)
    if doctor.returncode:
        return f"BPF cannot record here: {next((line.strip() for line in doctor.stdout.splitlines() if 'missing' in line), 'see whyslow doctor')}"
    known.parent.mkdir(parents=True, exist_ok=True)
    known.touch()
    return None


class OverLimit(BaseException):
    """The time for a test is over."""


def over_limit(*_):
    raise OverLimit


def run_one(test):
    """Runs one test in this process; its exit status."""
    # What loses its parent becomes a child of ours, and cannot outlive us.
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    signal.signal(signal.SIGALRM, over_limit)
    signal.alarm(test.limit_s)
    start = time.monotonic()
    try:
        found = test.check()
        print(f"{test.name}: ok, {time.monotonic() - start:.1f} s{f' ({found})' if found else ''}", flush=True)
        return 0
    except Skip as reason:
        print(f"skipped: {test.name}: {reason}", flush=True)
        return 0
    except OverLimit:
        print(f"{test.name}: FAILED: did not end within {test.limit_s} s", flush=True)
    except (Wrong, OSError, ValueError, KeyError, subprocess.SubprocessError) as wrong:
        kind = "" if isinstance(wrong, Wrong) else f"{type(wrong).__name__}: "
        print(f"{test.name}: FAILED: {kind}{wrong}", flush=True)
    finally:
        signal.alarm(0)
        end_all()
    return 1


def by_hand(tests, options):
    """Runs tests side by side as far as their weights allow; how many passed, failed, were skipped."""
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    room = 4 * (os.cpu_count() or 1)
    free, turn = room, threading.Condition()

    def run(test):
        nonlocal free
        weight = room if test.weight == "alone" else min(int(test.weight), room)
        with turn:
            turn.wait_for(lambda: free >= weight)
            free -= weight
        try:
            command = [sys.executable, sys.argv[0], *options, "--run", test.name]
            done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        finally:
            with turn:
                free += weight
                turn.notify_all()
        skipped = any(line.startswith("skipped: ") for line in done.stdout.splitlines())
        outcome = "failed" if done.returncode else "skipped" if skipped else "passed"
        with turn:
            counts[outcome] += 1
            print(done.stdout, end="", flush=True)

    # What waits goes first, side by side; then one after the other.
    order = sorted(tests, key=lambda test: test.weight == "alone")
    with concurrent.futures.ThreadPoolExecutor(room) as pool:
        list(pool.map(run, order))
    print(", ".join(f"{count} {outcome}" for outcome, count in counts.items()))
    return int(counts["failed"] > 0)


def main(usage, tests, options=()):
    """Answers the command line: `tests` are all, `options` those words of it that the suite has taken, for its runs by hand."""
    words = sys.argv[1:]
    for option in options:
        words.remove(option)
    known = {test.name: test for test in tests}
    if words == ["--list"]:
        for test in tests:
            print(f"{test.name}\t{test.weight}")
        sys.exit(0)
    if len(words) == 2 and words[0] == "--run" and words[1] in known:
        sys.exit(run_one(known[words[1]]))
    wanted = list(known) if words == ["--all"] else [word.rstrip("/") for word in words]
    if not wanted or set(wanted) - set(known):
        sys.exit(f"{usage.strip()}\ntests: {', '.join(known)}")
    sys.exit(by_hand([known[name] for name in wanted], list(options)))
