"""Judges one diagnosis by what is known of the program. It knows templates and the JSON of `whyslow diagnose`, and nothing of the rules."""
import json
import pathlib
import subprocess

import behind
from running import Failed, suite
from template import fill

# The severity of findings about the capture itself: they are neither a cause nor an alarm about the program.
ABOUT_CAPTURE = "capture"
# What a host takes from its programs, and from which part of the time on it is true to say so.
ABOUT_HOST = {"run-queue-delay", "cpu-throttled", "steal-time"}
QUEUED_TRUE = 0.05
SERIOUS = ("warning", "critical")
LIMIT_S = 120
# What is said of a miss. Of sealed templates this is all that is told.
CLASSES = {
    "silent": "no finding that matters",
    "other": "another cause first; the right one is not among the findings",
    "later": "the right cause is found, but not first",
    "host": "the host or its CPUs first",
}


def asked(*words):
    """What whyslow prints as JSON."""
    done = subprocess.run([suite.WHYSLOW, *map(str, words)], capture_output=True, text=True, timeout=LIMIT_S)
    if not done.stdout.strip():
        raise Failed(f"whyslow {words[0]} ended with status {done.returncode}: {done.stderr.strip()[-500:]}")
    return json.loads(done.stdout)


def judged(planned, observed):
    """Everything that is said of one draw."""
    try:
        diagnosis = asked("diagnose", "--json", *observed.inputs)
    except Failed as refused:
        # A trace without a line is an answer too: nothing was found.
        diagnosis = {"verdict": str(refused), "findings": [], "target": {}}
    template = planned.template
    result = {
        "template": template.name,
        "cause": template.cause,
        "sealed": template.is_sealed,
        "language": template.draw(planned.seed, planned.source).language,
        "variant": planned.variant,
        "conditions": list(planned.condition.names()),
        "command": planned.command(),
        "verdict": diagnosis["verdict"],
        "findings": [{key: finding[key] for key in ("id", "severity", "share", "share_of", "confidence", "title")} for finding in diagnosis["findings"]],
        "cost": (diagnosis["target"].get("cost") or {}).get("target_share"),
        "queued": observed.queued,
    }
    if planned.variant == "slow":
        result |= of_slow(planned, observed, diagnosis)
    else:
        result["false_alarms"] = false_alarms(planned, observed, diagnosis)
    return result


def causes(diagnosis):
    """The findings about the program, in their order."""
    return [finding for finding in diagnosis["findings"] if finding["severity"] != ABOUT_CAPTURE]


def of_slow(planned, observed, diagnosis):
    """Whether the right cause is told, where, and with which share."""
    template = planned.template
    right = set(template.right)
    found = causes(diagnosis)
    # Threads that strace was not to follow: that they are missed is the right answer then.
    if "-f" not in planned.condition.how.split() and planned.condition.lane == "strace":
        right.add("threads-missed")
        found = [finding for finding in diagnosis["findings"] if finding in found or finding["id"] == "threads-missed"]
    ids = [finding["id"] for finding in found]
    first = found[0] if found else None
    is_right = bool(first) and first["id"] in right
    verdict = diagnosis["verdict"].casefold()
    told = next((finding for finding in found if finding["id"] in right), None)
    result = {
        "right_first": is_right,
        "right_three": any(name in right for name in ids[:3]),
        "culprit": any(text.casefold() in verdict for text in planned.template.draw(planned.seed, planned.source).culprits(observed.values)),
        "account": account(diagnosis, planned, observed),
        "confidence": first and first["confidence"],
        "share_true": true_share(observed, told),
        "share_told": told and told["share"],
        "miss": None if is_right else miss(ids, right, diagnosis),
    }
    result |= behind.judged(planned, observed, diagnosis, first, fill)
    if planned.second:
        result["second"] = {"cause": planned.second.cause, "found": any(name in planned.second.right for name in ids)}
    return result


def true_share(observed, told):
    """The part of the time that the cause took, as the program measured it itself: of its whole time where the finding is about wall time, else of
    the time that it spent on its work. None where it did not measure."""
    report = observed.report or {}
    if report.get("culprit") is None or not report.get("seconds") or told is None:
        return None
    of = float(observed.values["seconds"]) if "wall" in told["share_of"] else report["seconds"]
    return min(1.0, report["culprit"] / of)


def account(diagnosis, planned, observed):
    """Whether the account's top row names the culprit; None where there is no account."""
    rows = (diagnosis.get("account") or {}).get("rows")
    if not rows:
        return None
    top = json.dumps(rows[0], ensure_ascii=False).casefold()
    return any(text.casefold() in top for text in planned.template.draw(planned.seed, planned.source).culprits(observed.values))


def miss(ids, right, diagnosis):
    """The class of a miss."""
    if any(name in right for name in ids):
        return "later"
    if not any(finding["severity"] in SERIOUS for finding in diagnosis["findings"]):
        return "silent"
    return "host" if ids[0] in ABOUT_HOST else "other"


def false_alarms(planned, observed, diagnosis):
    """Warnings about a program that is well; what the host really took from it is none."""
    alarms = [finding["id"] for finding in causes(diagnosis) if finding["severity"] in SERIOUS]
    if planned.condition.host in ("neighbour", "quota") or (observed.queued or 0) >= QUEUED_TRUE:
        alarms = [name for name in alarms if name not in ABOUT_HOST]
    return alarms


def kept(result, is_sealed):
    """A result as it is kept: without what names the machine (paths, processes beside); `truth/run one` says it again."""
    result = {key: value for key, value in result.items() if key != "verdict"}
    if "findings" in result:
        result["findings"] = [{key: value for key, value in finding.items() if key != "title"} for finding in result["findings"]]
    if "failed" in result:
        result["failed"] = result["failed"].splitlines()[0].replace(str(pathlib.Path(__file__).resolve().parents[2]), "")
    return without_names(result) if is_sealed else result


def without_names(result):
    """A result of a sealed template as it is kept: outcomes, and nothing that tells which program it was or what was said of it."""
    hidden = {"template": "sealed", "cause": "sealed", "command": "sealed", "findings": [], "failed": "sealed", "skipped": "sealed"}
    kept = {key: hidden.get(key, value) for key, value in result.items()}
    if kept.get("false_alarms"):
        kept["false_alarms"] = ["sealed"] * len(kept["false_alarms"])
    if kept.get("second"):
        kept["second"] = {**kept["second"], "cause": "sealed"}
    return kept
