"""Records a running program as a condition says: by whyslow itself, or by strace with what people collect beside it."""
import contextlib
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import time

import hosts
import running
from running import Failed, Running, suite

# Between the start of the work and the attachment to it.
WARM_UP_S = 0.8
# The work goes on for so much longer than the window.
TAIL_S = 1.0
# What a recorder may take to its end.
STOP_S = 30.0
# The part of the window in which a second, smaller cause is at work.
SECOND_PART = 0.2


class Observed:
    """What is there to diagnose, and what the program reported of its own work."""

    def __init__(self, inputs, report, values, queued):
        self.inputs, self.report, self.values, self.queued = inputs, report, values, queued


def observed(planned, kept, folder):
    """Runs one planned draw and records it into `folder`."""
    condition = planned.condition
    draw = planned.template.draw(planned.seed, planned.source)
    with hosts.as_said(condition.host, kept) as (wrap, below):
        work = below / f"run-{os.getpid()}"
        shutil.rmtree(work, ignore_errors=True)
        seconds = condition.window + (TAIL_S + WARM_UP_S if condition.phase == "attach" else 0)
        programs = Running(draw, planned.variant, work, kept, seconds)
        second = second_of(planned, work, kept)
        try:
            programs.set_up()
            if second:
                second.set_up()
            record = from_start if condition.phase == "start" else attached
            inputs, queued = record(programs, condition, wrap, second, folder)
            report = finished(programs, condition)
        finally:
            # What the second has made (a mount, a control group) goes with its own end: it is not to be killed with the rest.
            if second:
                second.end(and_all=False)
            programs.end()
            programs.remove()
    return Observed(inputs, report, programs.values, queued)


def second_of(planned, work, kept):
    """The programs of a second cause, which runs for a part of the window."""
    if planned.second is None:
        return None
    draw = planned.second.draw(planned.seed)
    before = WARM_UP_S if planned.condition.phase == "attach" else 0
    return Running(draw, "slow", work / "second", kept, before + planned.condition.window * SECOND_PART)


def finished(programs, condition):
    """The report; None where the recording ended the program before it could write one."""
    try:
        return programs.wait()
    except Failed:
        if condition.phase == "start":
            return None
        raise


def from_start(programs, condition, wrap, second, folder):
    """Records the target from its first call on; a server until it was asked for the length of the window."""
    is_job = programs.reporter() == next(program.name for program in programs.programs if program.role == "target")
    recorder, inputs = starter(condition, folder, is_job)
    if second:
        second.start(but=("target", "load"))
        wrap = [*wrap, *beside(second)]
    programs.start(wrap=[*recorder, *wrap])
    process = programs.target()
    if is_job:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(condition.window + running.GRACE_S)
    else:
        time.sleep(programs.load_delay() + condition.window)
    if process.poll() is None:
        if condition.lane == "live":
            process.send_signal(signal.SIGINT)
        else:
            # What it traces is ended, and strace with it.
            for pid in reversed(below(process.pid)):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGTERM)
        stopped(process)
    return inputs, None


def starter(condition, folder, is_job):
    if condition.lane == "live":
        path = folder / "recording.whyslow"
        length = ["-d", f"{condition.window}s"] if is_job else []
        return [suite.WHYSLOW, "record", "--mode", condition.how, *length, "-o", str(path), "--"], [path]
    path = folder / "trace.st"
    return ["strace", *condition.how.split(), "-o", str(path)], [path]


def beside(second):
    """A shell that runs the second cause's program too, as a child of the target."""
    program = next(program for program in second.programs if program.role == "target")
    words = shlex.join(second.command_of(program))
    return ["bash", "-c", f'(cd {shlex.quote(str(second.work))} && exec {words}) > /dev/null 2>&1 & "$@"; wait', "bash"]


def attached(programs, condition, wrap, second, folder):
    """Starts the work, and records a window in the middle of its life."""
    if second:
        second.start(but=("target", "load"))
        wrap = [*wrap, *beside(second)]
    programs.start(wrap=wrap)
    time.sleep(WARM_UP_S + programs.load_delay())
    target = programs.target().pid
    pids = [target, *below(target)]
    before = queue_time(pids)
    began = time.monotonic()
    if condition.lane == "live":
        inputs = live(target, condition, folder)
    else:
        inputs = traced(pids, condition, folder)
    queued = (queue_time(pids) - before) / (time.monotonic() - began)
    return inputs, queued


def live(target, condition, folder):
    path = folder / "recording.whyslow"
    command = [suite.WHYSLOW, "record", "--mode", condition.how, "-p", str(target), "-d", f"{condition.window}s", "-o", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=condition.window + STOP_S)
    if not path.exists():
        raise Failed(f"whyslow record: {done.stderr.strip()[-500:]}")
    return [path]


def traced(pids, condition, folder):
    """strace, and what is collected beside it for the same window."""
    path = folder / "trace.st"
    # Without -f strace follows one thread of each process that is named.
    named = [word for pid in pids for word in ("-p", str(pid))]
    helpers = tables(pids[0], condition.window, folder) if condition.beside == "tables" else []
    tracer = subprocess.Popen(["strace", *condition.how.split(), "-o", str(path), *named], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    end = time.monotonic() + condition.window
    inputs = [path]
    if condition.beside == "lsof":
        time.sleep(condition.window / 3)
        with open(folder / "lsof.txt", "wb") as out:
            subprocess.run(["lsof", "-n", "-P", "-p", ",".join(map(str, pids))], stdout=out, stderr=subprocess.DEVNULL, timeout=STOP_S)
        inputs.append(folder / "lsof.txt")
    time.sleep(max(0.0, end - time.monotonic()))
    tracer.send_signal(signal.SIGINT)
    stopped(tracer)
    for path, process in helpers:
        process.wait(STOP_S)
        inputs.append(path)
    if not (folder / "trace.st").exists():
        raise Failed(f"strace wrote nothing: {tracer.stderr.read().decode(errors='replace')[-500:]}")
    return inputs


def tables(pid, window, folder):
    """pidstat, iostat, vmstat and top for the window, at one line a second."""
    count = str(max(2, window))
    commands = {
        "pidstat.txt": ["pidstat", "-durw", "-p", str(pid), "1", count],
        "iostat.txt": ["iostat", "-xz", "1", count],
        "vmstat.txt": ["vmstat", "1", count],
        "top.txt": ["top", "-b", "-d", "1", "-n", count],
    }
    started = []
    for name, command in commands.items():
        if shutil.which(command[0]):
            with open(folder / name, "wb") as out:
                started.append((folder / name, subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL, env={**os.environ, "LC_ALL": "C"})))
    return started


def stopped(process):
    try:
        process.wait(STOP_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def below(pid):
    """All processes below one."""
    found, todo = [], [pid]
    while todo:
        parent = todo.pop()
        for task in pathlib.Path(f"/proc/{parent}/task").glob("*/children"):
            with contextlib.suppress(OSError):
                children = [int(word) for word in task.read_text().split()]
                found += children
                todo += children
    return found


def queue_time(pids):
    """Seconds that the threads of these processes waited for a CPU so far (/proc/PID/task/TID/schedstat, kernel: sched-stats.rst)."""
    total = 0
    for pid in pids:
        for path in pathlib.Path(f"/proc/{pid}/task").glob("*/schedstat"):
            with contextlib.suppress(OSError, ValueError, IndexError):
                total += int(path.read_text().split()[1])
    return total / 1e9
