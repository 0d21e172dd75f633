"""What the fix saves: as whyslow predicts it from the recording of the slow program, and as it is measured."""
import os
import shutil

from judge import asked
from running import Failed, Running

# How long the slow and the fixed program are measured, without a recorder.
MEASURED_S = 3.0


def per_unit(report):
    """Seconds for a unit of work; None where none was done."""
    return report["seconds"] / report["units"] if report and report.get("units") else None


def measured(planned, kept):
    """The part of the time for a unit that the fix takes away, of programs that nobody records."""
    if planned.template.measure != "time":
        return None
    each = {}
    for variant in ("slow", "fixed"):
        work = kept / f"run-{os.getpid()}"
        shutil.rmtree(work, ignore_errors=True)
        draw = planned.template.draw(planned.seed, planned.source)
        programs = Running(draw, variant, work, kept, MEASURED_S)
        try:
            programs.set_up()
            programs.start()
            each[variant] = per_unit(programs.wait())
        except Failed:
            return None
        finally:
            programs.end()
            programs.remove()
    if not each["slow"] or not each["fixed"]:
        return None
    return 1 - each["fixed"] / each["slow"]


def predicted(planned, observed, result):
    """By the finding that is right: its share, where that is a part of a time. By the graph: what `path` says goes to the culprit."""
    told = next((f for f in result["findings"] if f["id"] in planned.template.right), None)
    by_finding = told["share"] if told and "time" in told["share_of"] else None
    draw = planned.template.draw(planned.seed, planned.source)
    texts = [text.casefold() for text in draw.culprits(observed.values)]
    try:
        rows = asked("path", "--json", *observed.inputs)["rows"]
    except (Failed, KeyError, ValueError):
        rows = []
    named = [row["share"] for row in rows if any(text in str(row.get("what", "")).casefold() for text in texts)]
    return {"by_finding": by_finding, "by_graph": min(1.0, sum(named)) if named else None}
