"""A template's programs at work: started in order, waited for until they are ready, ended, and what they report of their own work."""
import ctypes
import json
import os
import pathlib
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "cases/live"))

import suite  # noqa: E402
from template import fill  # noqa: E402

# What a server may take until it listens; a virtual machine of Java takes longest.
READY_S = 30.0
# What a program may take to its end, beyond the seconds it was given: a unit of work under way.
GRACE_S = 15.0


class Failed(Exception):
    """A program did not do what its template says."""


def adopt():
    """What the programs leave behind becomes ours, so that it can be ended."""
    ctypes.CDLL(None).prctl(suite.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


class Running:
    """The programs of one variant of a draw."""

    def __init__(self, draw, variant, work, kept, seconds):
        self.draw, self.variant, self.seconds = draw, variant, seconds
        self.work = pathlib.Path(work)
        self.work.mkdir(parents=True, exist_ok=True)
        self.values = draw.of_variant(variant, work, seconds)
        self.programs = draw.programs(self.values, work, kept)
        self.started = {}

    def set_up(self):
        """The template's own preparation: a list of shell commands, run in the folder of the run."""
        for line in self.draw.template.text.get("setup", []):
            done = subprocess.run(["bash", "-ec", fill(line, self.values)], cwd=self.work, capture_output=True, text=True, timeout=120)
            if done.returncode:
                raise Failed(f"setup `{line}`: {done.stderr.strip() or done.stdout.strip()}")

    def start(self, role=None, wrap=(), but=()):
        """Starts the programs (of one role), each when those before it are ready. The target's command gets `wrap` in front."""
        for program in self.programs:
            if (role and program.role != role) or program.role in but:
                continue
            command = self.command_of(program)
            if program.role == "target":
                command = [*wrap, *command]
            self.started[program.name] = self.spawn(program, command)
            self.wait_ready(program)

    def command_of(self, program):
        if program.load is None:
            return program.command
        options = dict(program.load)
        kind = next(kind for kind in ("http", "line") if kind in options)
        address = options.pop(kind)
        words = [f"{name}={value}" for name, value in options.items()]
        return [sys.executable, str(HERE / "client.py"), self.values["report"], str(self.seconds), kind, address, *words]

    def spawn(self, program, command):
        # The zone of whoever runs this is not the programs'.
        environment = {name: value for name, value in os.environ.items() if name != "TZ"}
        with open(self.work / f"{program.name}.out", "wb") as out:
            return subprocess.Popen(
                command,
                cwd=self.work,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                env={**environment, **program.environment},
                start_new_session=True,
                **as_user(program.user),
            )

    def wait_ready(self, program):
        end = time.monotonic() + READY_S
        while program.ready and not is_ready(program.ready):
            if self.started[program.name].poll() is not None:
                raise Failed(f"{program.name} ended at once:\n{self.said(program.name)}")
            if time.monotonic() > end:
                raise Failed(f"{program.name} is not ready after {READY_S:.0f} s ({program.ready}):\n{self.said(program.name)}")
            time.sleep(0.02)

    def target(self):
        """The first process of the target."""
        name = next(program.name for program in self.programs if program.role == "target")
        return self.started[name]

    def load_delay(self):
        """Seconds that the general client waits before its first request."""
        return max((float(program.load.get("delay_s", 0)) for program in self.programs if program.load), default=0.0)

    def said(self, name):
        """The end of what a program printed."""
        path = self.work / f"{name}.out"
        return path.read_text(errors="replace")[-1500:] if path.exists() else ""

    def reporter(self):
        """The program that writes the report: the load, or else the target."""
        return next((p.name for p in self.programs if p.role == "load"), None) or next(p.name for p in self.programs if p.role == "target")

    def wait(self):
        """Waits until the work is over; the report."""
        name = self.reporter()
        try:
            status = self.started[name].wait(self.seconds + self.load_delay() + GRACE_S)
        except subprocess.TimeoutExpired as error:
            raise Failed(f"{name} goes on after {self.seconds + GRACE_S:.0f} s:\n{self.said(name)}") from error
        if status:
            raise Failed(f"{name} ended with status {status}:\n{self.said(name)}")
        return self.report()

    def report(self):
        path = self.work / "report.json"
        try:
            return json.loads(path.read_text())
        except (OSError, ValueError) as error:
            raise Failed(f"no report: {error}; it printed:\n{self.said(self.reporter())}") from error

    def end(self, and_all=True):
        """Ends all of them, the last first; with `and_all` whatever else this process has started too."""
        for process in reversed(self.started.values()):
            if process.poll() is None:
                try:
                    os.killpg(process.pid, signal.SIGTERM)
                except ProcessLookupError:
                    pass
        end = time.monotonic() + 2
        for process in self.started.values():
            try:
                process.wait(max(0.0, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                pass
        if and_all:
            suite.end_all()

    def remove(self):
        shutil.rmtree(self.work, ignore_errors=True)


def per_unit(report):
    """Seconds for a unit of work; None where none was done."""
    return report["seconds"] / report["units"] if report.get("units") else None


def as_user(name):
    """What a process is started with to be that user's."""
    if name is None:
        return {}
    user = pwd.getpwnam(name)
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": os.getgrouplist(name, user.pw_gid)}


def is_ready(what):
    """`port N`, `socket PATH` or `file PATH`."""
    kind, _, rest = what.partition(" ")
    if kind == "file":
        return pathlib.Path(rest).exists()
    if kind == "socket":
        address, family = rest, socket.AF_UNIX
    else:
        address, family = ("127.0.0.1", int(rest)), socket.AF_INET
    with socket.socket(family) as probe:
        probe.settimeout(1)
        return probe.connect_ex(address) == 0
