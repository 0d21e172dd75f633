"""What the fix saves: as whyslow predicts it from the recording of the slow program, and as it is measured."""
import os
import shutil

from judge import asked
from running import Failed, Running, per_unit

# How long the slow and the fixed program are measured, without a recorder.
MEASURED_S = 3.0


def measured(planned, kept):
    """What the fix takes away, of programs that nobody records: of the time for a unit of work; and of the program's whole time, where it also waits
    for the next unit. None where either is unknown."""
    unknown = {"measured": None, "measured_of_wall": None}
    if planned.template.measure != "time":
        return unknown
    each, busy = {}, None
    for variant in ("slow", "fixed"):
        work = kept / f"run-{os.getpid()}"
        shutil.rmtree(work, ignore_errors=True)
        draw = planned.template.draw(planned.seed, planned.source)
        programs = Running(draw, variant, work, kept, MEASURED_S)
        try:
            programs.set_up()
            programs.start()
            report = programs.wait()
            each[variant] = per_unit(report)
            busy = busy or min(1.0, report["seconds"] / MEASURED_S)
        except Failed:
            return unknown
        finally:
            programs.end()
            programs.remove()
    if not each["slow"] or not each["fixed"]:
        return unknown
    saved = 1 - each["fixed"] / each["slow"]
    # Of a server's time nobody knows how much was spent on requests.
    return {"measured": saved, "measured_of_wall": saved * busy if planned.template.kind == "job" else None}


def predicted(planned, observed, result):
    """By the finding that is right: its share, where that is a part of a time. By the graph: what `path` says goes to the culprit."""
    told = next((f for f in result["findings"] if f["id"] in planned.template.right), None)
    by_finding = told["share"] if told and "time" in told["share_of"] else None
    of_wall = bool(told) and "wall" in told["share_of"]
    draw = planned.template.draw(planned.seed, planned.source)
    texts = [text.casefold() for text in draw.culprits(observed.values)]
    try:
        rows = asked("path", "--json", *observed.inputs)["rows"]
    except (Failed, KeyError, ValueError):
        rows = []
    named = [row["share"] for row in rows if any(text in str(row.get("what", "")).casefold() for text in texts)]
    return {"by_finding": by_finding, "of_wall": of_wall, "by_graph": min(1.0, sum(named)) if named else None}
