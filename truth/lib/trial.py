"""Tries a template without whyslow: that its slow program is slow, its fix faster, its healthy twin well. For those who write templates."""
import pathlib
import shutil
import tempfile

from running import Failed, Running, per_unit
from template import VARIANTS

# The slow program takes so much more for a unit of work than its fix, at least.
LEAST_GAIN = 1.25
# Of its own time the slow program loses at least so much to its cause, and its healthy twin at most.
LEAST_SHARE = 0.25


def all_of(template, seed, source, seconds, kept, keep=False):
    """Runs the three variants; prints what they report, and yields each thing that is wrong."""
    draw = template.draw(seed, source)
    shown = {name: value for name, value in draw.values.items()}
    print(f"{template.name} in {draw.language}, seed {seed}: {shown}")
    reports = {}
    for variant in VARIANTS:
        work = pathlib.Path(tempfile.mkdtemp(prefix="run-", dir=kept))
        try:
            running = Running(draw, variant, work, kept, seconds)
        except RuntimeError as error:
            yield f"{variant}: {error}"
            shutil.rmtree(work, ignore_errors=True)
            continue
        try:
            running.set_up()
            running.start()
            reports[variant] = running.wait()
            if target_ended(running) and template.kind == "server":
                yield f"{variant}: the server ended: {running.said('target')}"
        except Failed as error:
            yield f"{variant}: {error}"
        finally:
            running.end()
            if not keep:
                shutil.rmtree(work, ignore_errors=True)
        print(f"  {variant:8} {told(reports.get(variant))}")
    if template.measure == "time" and {"slow", "fixed"} <= set(reports):
        yield from wrong_times(template, reports)


def target_ended(running):
    return running.target().poll() not in (None, -15)


def told(report):
    if not report:
        return "no report"
    each = per_unit(report)
    share = f", {report['culprit'] / report['seconds']:.0%} of it by the cause" if report.get("culprit") is not None and report.get("seconds") else ""
    each = f"{each * 1000:.3f} ms each" if each else "no unit done"
    return f"{report.get('units')} units, {each}{share}" + (f", {report['errors']} errors" if report.get("errors") else "")


def wrong_times(template, reports):
    slow, fixed = per_unit(reports["slow"]), per_unit(reports["fixed"])
    if not slow or not fixed:
        yield "slow or fixed did no unit of work"
    elif slow < LEAST_GAIN * fixed:
        yield f"the fix gains too little: {slow * 1000:.3f} ms a unit, fixed {fixed * 1000:.3f}"
    culprit = reports["slow"].get("culprit")
    if template.kind == "job" and culprit is None and "share" not in template.text:
        yield "a job reports `culprit`, the seconds that its cause took, or the template states `share`"
    if culprit is not None and reports["slow"]["seconds"] and culprit / reports["slow"]["seconds"] < LEAST_SHARE:
        yield f"the cause takes only {culprit / reports['slow']['seconds']:.0%} of the slow program's own time"
