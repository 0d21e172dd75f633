"""The tracers that are measured: one table, a line a tool. How each is started on a process, and how it says it is there."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parents[2]
WHYSLOW = os.environ.get("WHYSLOW", str(ROOT / "target/release/whyslow"))
FLOOR = str(ROOT / "target/tmp/bench-floor")
# Longest wait for a tool to be attached, and for its end after it was told to stop.
ATTACH_S = 20
STOP_S = 15
HISTOGRAM = (
    "tracepoint:raw_syscalls:sys_enter /pid == {pid}/ {{ @start[tid] = nsecs; }} "
    "tracepoint:raw_syscalls:sys_exit /@start[tid]/ {{ @ns[args->id] = hist(nsecs - @start[tid]); delete(@start[tid]); }}"
)


@dataclass(frozen=True)
class Tool:
    """One line of the table. In `argv`, {pid} is the target, {out} a path that does not exist yet, {cpu} the target's CPU."""

    name: str
    argv: tuple = ()
    attached: str = ""  # what its open descriptors or its output show once it is attached: a regular expression
    from_text: bool = False  # `attached` is searched in what it prints, not in its descriptors
    slow: bool = False  # costs tens of microseconds a call: runs the shortest time
    records: bool = False  # writes each call down: its size per call is measured
    workloads: str = "."  # those that it has something to say of: a regular expression


EVENTS = r"anon_inode:\[perf_event\]"
LINKS = r"anon_inode:(bpf_link|bpf-link|\[?bpf.?link\]?)"
# That of libbpf-tools needs no headers of the kernel; that of bpfcc-tools compiles its program when it starts.
OFFCPUTIME = next((name for name in ("offcputime", "offcputime-bpfcc") if shutil.which(name)), "offcputime-bpfcc")
TOOLS = (
    Tool("bare"),
    # What no tracer by these means goes below (floor.bpf.c).
    Tool("floor: nothing", (FLOOR, f"{FLOOR}-nothing.o"), "attached", True),
    Tool("floor: two clocks", (FLOOR, f"{FLOOR}-clock.o"), "attached", True),
    Tool("whyslow full", (WHYSLOW, "record", "--mode", "full", "-p", "{pid}", "-o", "{out}.whyslow"), LINKS, records=True),
    Tool("whyslow counts", (WHYSLOW, "record", "--mode", "counts", "-p", "{pid}", "-o", "{out}.whyslow"), LINKS),
    # All processes of the host, added up: ended by the interrupt.
    Tool("whyslow summary -a", (WHYSLOW, "summary", "-a", "-d", "1h"), LINKS),
    Tool("whyslow adaptive", (WHYSLOW, "record", "-p", "{pid}", "-o", "{out}.whyslow"), LINKS),
    Tool("bpftrace hist", ("bpftrace", "-q", "-e", HISTOGRAM), EVENTS),
    # Stacks of all waits, added up in the kernel (bcc); stacks of Python's threads, read from outside.
    Tool("offcputime", (OFFCPUTIME, "-p", "{pid}"), f"{EVENTS}|{LINKS}", workloads="pipe|futex|python|redis"),
    Tool(
        "py-spy record",
        ("py-spy", "record", "-p", "{pid}", "-r", "99", "-d", "3600", "-f", "raw", "-o", "{out}"),
        "Sampling process", True, workloads="python",
    ),
    Tool("perf trace -s", ("perf", "trace", "-s", "-p", "{pid}", "-o", "{out}"), EVENTS, slow=True),
    Tool("perf trace", ("perf", "trace", "-p", "{pid}", "-o", "{out}"), EVENTS, slow=True, records=True),
    Tool("strace -c -f", ("strace", "-c", "-f", "-p", "{pid}", "-o", "{out}"), "attached", True, slow=True),
    Tool("strace -f -ttT", ("strace", "-f", "-ttT", "-p", "{pid}", "-o", "{out}"), "attached", True, True, True),
    Tool(
        "strace -f -ttT, 1 CPU",
        ("taskset", "-c", "{cpu}", "strace", "-f", "-ttT", "-p", "{pid}", "-o", "{out}"),
        "attached", True, True, True,
    ),
)


def build_floor():
    """Builds the floor's programs; without their libraries they are missing."""
    here = pathlib.Path(__file__).resolve().parent
    pathlib.Path(FLOOR).parent.mkdir(parents=True, exist_ok=True)
    clang = ["clang", "-O2", "-g", "-target", "bpf", "-I/usr/include/x86_64-linux-gnu", "-c", here / "floor.bpf.c", "-o"]
    for command in (
        clang + [f"{FLOOR}-nothing.o"],
        clang + [f"{FLOOR}-clock.o", "-DCLOCK"],
        ["cc", "-O2", "-o", FLOOR, here / "floor.c", "-lbpf"],
    ):
        try:
            if subprocess.run(command, capture_output=True).returncode != 0:
                return
        except OSError:
            return


def missing(tool):
    """Why the tool cannot be measured here, or None."""
    program = tool.argv[0] if tool.argv else "true"
    if program == "taskset":
        program = tool.argv[3]
    if shutil.which(program) is None:
        return "it needs clang and libbpf-dev" if program == FLOOR else f"no {program} here"
    if program == "offcputime-bpfcc" and not (os.path.exists(f"/lib/modules/{os.uname().release}/build") or os.path.exists("/sys/kernel/kheaders.tar.xz")):
        return "it compiles against the headers of this kernel, which are not here"
    if program == WHYSLOW:
        # A build without live recording has no such command.
        if subprocess.run([WHYSLOW, "record", "--help"], capture_output=True).returncode != 0:
            return "this whyslow has no `record`"
    return None


def process_status(pid, field):
    """A figure of /proc/PID/status in bytes, or None."""
    try:
        for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith(field + ":"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return None


def cpu_s(pid):
    """CPU time of all its living threads in seconds, to the nanosecond; None where the kernel does not tell."""
    try:
        return sum(int(file.read_text().split()[0]) for file in pathlib.Path(f"/proc/{pid}/task").glob("*/schedstat")) / 1e9
    except (OSError, ValueError, IndexError):
        return None


def descriptors(pid):
    """What its open descriptors point to."""
    found = []
    try:
        for name in os.listdir(f"/proc/{pid}/fd"):
            try:
                found.append(os.readlink(f"/proc/{pid}/fd/{name}"))
            except OSError:
                pass
    except OSError:
        pass
    return found


def bpf_objects():
    """What is loaded into the kernel: kind -> {id: bytes}. None where bpftool cannot tell."""
    objects = {}
    for kind in ("prog", "map", "link"):
        try:
            told = subprocess.run(["bpftool", "-j", kind, "list"], capture_output=True, timeout=20)
            rows = json.loads(told.stdout or b"[]")
        except (OSError, ValueError, subprocess.TimeoutExpired):
            return None
        objects[kind] = {row["id"]: row.get("bytes_memlock", 0) for row in rows if isinstance(row, dict) and "id" in row}
    return objects


def bytes_below(path):
    if path.is_file():
        return path.stat().st_size
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())


class Running:
    """A tool attached to a process. `stop` ends it and tells what it cost."""

    def __init__(self, tool, pid, folder, cpu=0, look_at_kernel=False):
        self.tool, self.folder = tool, folder
        self.out = folder / f"out-{time.monotonic_ns()}"
        self.log = folder / "tool.log"
        self.before = bpf_objects() if look_at_kernel else None
        argv = [word.format(pid=pid, out=self.out, cpu=cpu) for word in tool.argv]
        start = time.monotonic()
        self.process = subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=self.log.open("wb"), stderr=subprocess.STDOUT, start_new_session=True
        )
        self.attach_s = self._wait_attached(start)
        # What a tool still does after it is attached (the state of the process, its own set-up) is not the target's cost.
        time.sleep(0.15)
        self.cpu_before = cpu_s(self.process.pid)

    def _wait_attached(self, start):
        """Seconds from its start to the last descriptor that shows it attached; more may follow for a while."""
        seen, since = 0, time.monotonic()
        while time.monotonic() - start < ATTACH_S:
            if self.process.poll() is not None:
                raise RuntimeError(f"ended with {self.process.returncode}: {self.said()}")
            if self.tool.from_text:
                now = len(re.findall(self.tool.attached, self.said()))
            else:
                now = sum(bool(re.search(self.tool.attached, name)) for name in descriptors(self.process.pid))
            if now != seen:
                seen, since = now, time.monotonic()
            # A tool that says it has said it; descriptors come one after another, the probes of bpftrace slowly.
            if seen and time.monotonic() - since > (0 if self.tool.from_text else 0.3):
                return since - start
            time.sleep(0.002)
        raise RuntimeError(f"not attached within {ATTACH_S} s: {self.said()}")

    def said(self):
        return self.log.read_text(errors="replace")[-2000:]

    def stop(self):
        """Its cost as a dict; figures that could not be had are None."""
        cost = {"attach_s": self.attach_s, "rss": process_status(self.process.pid, "VmHWM"), "kernel_bytes": None, "left": None}
        now = cpu_s(self.process.pid)
        cost["cpu_recording_s"] = now - self.cpu_before if None not in (now, self.cpu_before) else None
        if self.before is not None:
            during = bpf_objects()
            if during is not None:
                ours = set(during["map"]) - set(self.before["map"])
                cost["kernel_bytes"] = sum(during["map"][number] for number in ours)
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        deadline = time.monotonic() + STOP_S
        ended = 0
        while ended == 0 and time.monotonic() < deadline:
            ended, status, used = os.wait4(self.process.pid, os.WNOHANG)
            time.sleep(0.005)
        if ended == 0:
            self.process.kill()
            _, status, used = os.wait4(self.process.pid, 0)
            cost["killed"] = True
        self.process.returncode = os.waitstatus_to_exitcode(status)
        cost["status"] = self.process.returncode
        cost["cpu_s"] = used.ru_utime + used.ru_stime - (self.cpu_before or 0)
        cost["bytes"] = sum(bytes_below(path) for path in self.folder.glob(self.out.name + "*"))
        cost["lost"] = self._lost()
        if self.before is not None:
            # The kernel frees programs and maps a moment after the last descriptor is closed.
            for _ in range(50):
                after = bpf_objects()
                cost["left"] = None if after is None else sum(len(set(after[k]) - set(self.before[k])) for k in after)
                if not cost["left"]:
                    break
                time.sleep(0.1)
        for path in self.folder.glob(self.out.name + "*"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        return cost

    def kill(self):
        self.process.kill()
        self.process.wait()

    def _lost(self):
        """(lost, rows) of its calls as it says itself; None where it says nothing."""
        meta = pathlib.Path(f"{self.out}.whyslow/meta.json")
        if meta.exists():
            return losses_of(json.loads(meta.read_text()), "syscalls")
        if self.tool.argv[0] == "perf":
            text = self.said() + (self.out.read_text(errors="replace") if self.out.exists() else "")
            return sum(int(count) for count in re.findall(r"LOST (\d+) events", text)), None
        return None


def losses_of(meta, table):
    """(lost, produced) of one table of a recording."""
    loss = meta.get("losses", {}).get(table)
    return (loss["lost"], loss["produced"]) if loss else None
