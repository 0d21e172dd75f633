"""docs/TRUTH.md from the results of the runs. Of sealed templates it has counts by class, and nothing else."""
import collections
import json
import pathlib

from judge import CLASSES, SERIOUS
from stats import median, overlap, percent, share, wilson

# Where `confidence` is cut for its calibration.
BINS = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 1.01)
# What the field would call a good prediction, and a usable one.
CLOSE, NEAR = 0.10, 0.25
# Open and sealed may part by so many points before the corpus itself is in doubt.
PARTED = 0.10


def read(path):
    return [json.loads(line) for line in pathlib.Path(path).read_text().splitlines()]


def in_brief(rows):
    """The overall figures alone, and the classes of misses."""
    judged = [row for row in rows if "variant" in row]
    slow = [row for row in judged if row["variant"] == "slow"]
    return "\n\n".join(part.strip() for part in (overall(slow, judged), misses(slow), alarms(judged)) if part)


def written(runs, captures, thresholds=""):
    """The page of the newest runs, one for each seed."""
    rows = [row for _, results in runs for row in results]
    judged = [row for row in rows if "variant" in row]
    slow = [row for row in judged if row["variant"] == "slow"]
    shown = [row for row in slow if not row["sealed"]]
    parts = [
        HEAD.format(again=AGAIN if any(row.get("again") for row in rows) else "", few=FEW_DRAWS if len(rows) < WHOLE else "", runs=", ".join(f"`{name}`" for name, _ in runs), draws=len(rows), judged=len(judged)),
        overall(slow, judged),
        seeds(runs),
        not_judged(rows),
        table("By cause", "Of the open templates.", "cause", by(shown, lambda row: [row["cause"]])),
        table("By language", "", "language", by(slow, lambda row: [row["language"]])),
        table("By condition", "", "condition", by(slow, lambda row: row["conditions"])),
        misses(slow),
        confusion(shown),
        rules(judged),
        calibration(slow),
        saved(slow),
        claimed(slow),
        costs(judged),
        second(slow),
        alarms(judged),
        captures,
        thresholds,
        listed(shown),
    ]
    return "\n\n".join(part.strip() for part in parts if part) + "\n"


# Draws of a whole run.
WHOLE = 300
FEW_DRAWS = " **This is a part of a run**: the intervals are wide, and most causes came once or not at all."

# Of recordings that were judged a second time.
AGAIN = """

**Judged anew** (`truth/run again`): the programs were recorded by earlier runs, and what is said of them here is said by the code since. Rules were changed
after their authors had looked at misses on open templates among these very recordings, so the figures of the open ones tell how well that went, and not how
often whyslow is right on a program that nobody here has seen: for that the sealed ones count, and the next seed."""

HEAD = """# How often whyslow is right

<!-- Written by `truth/run page`. -->

Programs that are slow for a known reason are drawn from the corpus in [truth/](../truth/README.md), run, recorded under drawn conditions, and diagnosed. Who wrote
the programs had not read the rules. In brackets: the 95 % interval, and the counts.

Runs: {runs}; {draws} draws, {judged} judged. Anew: `make truth SEED=…`.{few}{again}

- *First finding right*: the first finding about the program is the cause that was built in (or an id that its author holds to be as right).
- *Culprit named*: the first sentence has the file, peer, function or holder that its author says an engineer must know.
- *Process*, *line*: of live recordings, whether the first finding names the process that is to blame (the target, or one behind its waits), and in it the function or the line;
  where the template tells which, and of lines where the language's frames can be read.
- *False alarm*: a warning or critical finding about the program after its fix, or about its healthy twin. What a busy host really took from it is none."""


def rate(rows, key):
    known = [row for row in rows if row.get(key) is not None]
    return share(sum(bool(row[key]) for row in known), len(known))


def overall(slow, judged):
    lines = ["## Overall", "", "| | all | open | sealed |", "|---|---|---|---|"]
    parts = (slow, [row for row in slow if not row["sealed"]], [row for row in slow if row["sealed"]])
    for title, key in (
        ("first finding right", "right_first"),
        ("right among the first three", "right_three"),
        ("culprit named in the first sentence", "culprit"),
        ("the account's top row names the culprit", "account"),
        ("its process named", "process"),
        ("its line or function named", "line"),
    ):
        lines.append(f"| {title} | " + " | ".join(rate(rows, key) for rows in parts) + " |")
    for title, variant in (("false alarms on healthy twins", "healthy"), ("false alarms on fixed programs", "fixed")):
        of = [row for row in judged if row["variant"] == variant]
        cells = [share(sum(bool(row["false_alarms"]) for row in rows), len(rows)) for rows in (of, [r for r in of if not r["sealed"]], [r for r in of if r["sealed"]])]
        lines.append(f"| {title} | " + " | ".join(cells) + " |")
    opened, sealed = ([row["right_first"] for row in rows] for rows in parts[1:])
    if opened and sealed:
        apart = sum(opened) / len(opened) - sum(sealed) / len(sealed)
        is_chance = overlap(wilson(sum(opened), len(opened)), wilson(sum(sealed), len(sealed)))
        parted = "Their intervals overlap: more draws will tell." if is_chance else "**They part: the corpus, or what was tuned by it, is in doubt.**"
        verdict = parted if abs(apart) > PARTED else "They agree."
        lines += ["", f"Open and sealed are {abs(apart) * 100:.0f} points apart ({'open' if apart > 0 else 'sealed'} is better). {verdict}"]
    return "\n".join(lines)


def seeds(runs):
    """Whether runs of different seeds agree."""
    if len(runs) < 2:
        return ""
    lines = ["## Seed against seed", "", "| run | first finding right | culprit named |", "|---|---|---|"]
    intervals = []
    for name, rows in runs:
        slow = [row for row in rows if row.get("variant") == "slow"]
        intervals.append(wilson(sum(row["right_first"] for row in slow), len(slow)))
        lines.append(f"| `{name}` | {rate(slow, 'right_first')} | {rate(slow, 'culprit')} |")
    agree = all(overlap(first, second) for first in intervals for second in intervals)
    return "\n".join([*lines, "", "They agree within their intervals." if agree else "**They do not agree within their intervals.**"])


def not_judged(rows):
    reasons = collections.Counter()
    for row in rows:
        if reason := row.get("skipped") or row.get("failed"):
            reasons[("could not be run here" if row.get("skipped") else "failed", "(sealed)" if row["sealed"] else f"`{row['template']}`: {reason.splitlines()[0][:140]}")] += 1
    if not reasons:
        return ""
    lines = ["## Not judged", "", *(f"- {kind}: {text}" + (f" ({count} times)" if count > 1 else "") for (kind, text), count in sorted(reasons.items()))]
    return "\n".join(lines)


def by(rows, keys):
    groups = collections.defaultdict(list)
    for row in rows:
        for key in keys(row):
            groups[key].append(row)
    return groups


def table(title, about, column, groups):
    if not groups:
        return ""
    lines = [f"## {title}", "", *([about, ""] if about else []), f"| {column} | first finding right | among three | culprit named | process | line |", "|---|---|---|---|---|---|"]
    for key in sorted(groups):
        rows = groups[key]
        lines.append(f"| {key} | {rate(rows, 'right_first')} | {rate(rows, 'right_three')} | {rate(rows, 'culprit')} | {rate(rows, 'process')} | {rate(rows, 'line')} |")
    return "\n".join(lines)


def misses(slow):
    missed = [row for row in slow if row["miss"]]
    counts = {sealed: collections.Counter(row["miss"] for row in missed if row["sealed"] == sealed) for sealed in (False, True)}
    lines = ["## Misses by class", "", "| class | open | sealed |", "|---|---|---|"]
    lines += [f"| {text} | {counts[False][name]} | {counts[True][name]} |" for name, text in CLASSES.items()]
    return "\n".join(lines)


def first_of(row):
    return row["findings"][0]["id"] if row["findings"] else "nothing"


def confusion(shown):
    """What was said instead, for each cause that was missed at least once."""
    groups = by([row for row in shown if not row["right_first"]], lambda row: [row["cause"]])
    total = collections.Counter(row["cause"] for row in shown)
    if not groups:
        return ""
    lines = ["## What was said instead", "", "| cause | missed | first finding instead |", "|---|---|---|"]
    for cause in sorted(groups):
        said = collections.Counter(first_of(row) for row in groups[cause])
        lines.append(f"| {cause} | {len(groups[cause])} of {total[cause]} | {', '.join(f'{name} ({count})' if count > 1 else name for name, count in said.most_common())} |")
    return "\n".join(lines)


def rules(judged):
    """Precision: of the warnings of a rule those about a program with that cause. Recall: of such programs those where it fired."""
    fired, right, present, found = (collections.Counter() for _ in range(4))
    for row in judged:
        if row["sealed"]:
            continue
        ids = {finding["id"] for finding in row["findings"] if finding["severity"] in SERIOUS}
        is_slow = row["variant"] == "slow"
        if is_slow:
            present[row["cause"]] += 1
            found[row["cause"]] += row["cause"] in {finding["id"] for finding in row["findings"]}
        for name in ids:
            fired[name] += 1
            right[name] += is_slow and name == row["cause"]
    lines = ["## By rule", "", "Of the open templates. Precision: of its warnings, those about a program that was built to have this cause; another rule's may be true as well (a slow "
             "program has consequences). Recall: of the programs with this cause, those where it is among the findings.", "", "| rule | precision | recall |", "|---|---|---|"]
    lines += [f"| {name} | {share(right[name], fired[name])} | {share(found[name], present[name])} |" for name in sorted(fired | present)]
    return "\n".join(lines)


def calibration(slow):
    rows = [row for row in slow if row["confidence"] is not None]
    lines = ["## Calibration of `confidence`", "", "Of the first findings.", "", "| confidence | mean | right |", "|---|---|---|"]
    error = 0.0
    for low, high in zip(BINS, BINS[1:]):
        within = [row for row in rows if low <= row["confidence"] < high]
        if within:
            mean, right = sum(row["confidence"] for row in within) / len(within), sum(row["right_first"] for row in within)
            error += abs(mean - right / len(within)) * len(within) / len(rows)
            lines.append(f"| {low:.1f} to {min(high, 1.0):.1f} | {mean:.2f} | {share(right, len(within))} |")
    return "\n".join([*lines, "", f"Expected calibration error: {error:.2f}." if rows else ""])


def saved(slow):
    """Predicted against measured savings."""
    rows = [row["saving"] | {"cause": row["cause"], "sealed": row["sealed"]} for row in slow if (row.get("saving") or {}).get("measured") is not None]
    if not rows:
        return ""
    lines = ["## Predicted savings", "", "What the fix takes away: predicted from the recording of the slow program, measured on the slow and the fixed program without a recorder. A share of "
             "wall time is held against what the fix takes of the program's whole time, any other against what it takes of the time for a unit of work; where that is not known (a share of a "
             "server's wall time), nothing is compared.", "", "| predicted by | compared | median error | within 10 points | within 25 points |", "|---|---|---|---|---|"]
    off = collections.defaultdict(collections.Counter)
    for name, key in (("the share of the right finding", "by_finding"), ("the graph of waits (`path`)", "by_graph")):
        errors = []
        for row in rows:
            true = row["measured_of_wall"] if row["of_wall"] or (key == "by_graph" and row["measured_of_wall"] is not None) else row["measured"]
            if row[key] is None or true is None:
                continue
            errors.append(abs(row[key] - true))
            if errors[-1] > NEAR and not row["sealed"]:
                off["too much promised" if row[key] > true else "too little promised"][row["cause"]] += 1
        within = [share(sum(error <= limit for error in errors), len(errors)) for limit in (CLOSE, NEAR)]
        lines.append(f"| {name} | {share(len(errors), len(rows))} | {percent(median(errors))} | {within[0]} | {within[1]} |")
    for kind in sorted(off):
        lines += ["", f"Off by more than 25 points, {kind}: {', '.join(f'{name} ({count})' for name, count in off[kind].most_common())}."]
    return "\n".join(lines)


def claimed(slow):
    """The share that is said against the share that the program measured itself."""
    rows = [row for row in slow if row.get("share_true") is not None and row.get("share_told") is not None]
    if not rows:
        return ""
    errors = [abs(row["share_told"] - row["share_true"]) for row in rows]
    return "\n".join(["## Claimed shares", "", f"Of {len(rows)} right findings the share that is claimed is off by {percent(median(errors))} in the median from what the program measured itself (of its whole time, "
                      f"where the finding is about wall time); "
                      f"within 10 points: {share(sum(error <= CLOSE for error in errors), len(errors))}."])


def costs(judged):
    known = sorted(row["cost"] for row in judged if row.get("cost") is not None)
    if not known:
        return ""
    at = lambda part: percent(known[min(len(known) - 1, int(part * len(known)))])
    return f"## Cost\n\nOf the target's CPU time, by the recordings' own account: median {at(0.5)}, 95th percentile {at(0.95)}, highest {at(1)} ({len(known)} recordings)."


def second(slow):
    rows = [row["second"] for row in slow if row.get("second")]
    return f"## Two causes at once\n\nThe smaller one (a fifth of the window) is among the findings: {share(sum(row['found'] for row in rows), len(rows))}." if rows else ""


def alarms(judged):
    counts = collections.Counter(name for row in judged if row["variant"] != "slow" and not row["sealed"] for name in row["false_alarms"])
    if not counts:
        return ""
    return "## False alarms by rule\n\nOf the open templates.\n\n" + "\n".join(f"- {name}: {count}" for name, count in counts.most_common())


def listed(shown):
    """Each miss with the command that repeats it."""
    lines = ["## Each miss", "", "Of the open templates; the command repeats it.", ""]
    for row in shown:
        if row["miss"] or not row["culprit"]:
            said = first_of(row) if row["miss"] else "right, but the culprit is not in the first sentence"
            lines += [f"- {row['cause']} ({row['language']}): {said}", f"  `{row['command']}`"]
    return "\n".join(lines)
