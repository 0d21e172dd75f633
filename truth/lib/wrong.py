"""What the figures say is set wrongly: thresholds that would do better at half or at double, and `confidence` that is no measured precision."""
import collections
import csv
import pathlib

from judge import SERIOUS
from stats import share, wilson

# Fewer cases are chance.
FEW = 3


def section(rows, swept):
    """The part of the page; `swept` is the table of the last sweep, or nothing."""
    parts = ["## What is set wrongly", "", "Listed, not changed here: rules are mended by classes, and judged anew.", "", *thresholds(swept), "", *confidences(rows)]
    return "\n".join(parts)


def thresholds(swept):
    """Thresholds of which half or double finds more without more wrong warnings, or has fewer of those and finds as much."""
    if not pathlib.Path(swept).exists():
        return ["No sweep of thresholds is kept."]
    cells = collections.defaultdict(dict)
    with open(swept, newline="") as lines:
        for line in csv.DictReader(lines, delimiter="\t"):
            figures = {key: int(line[key]) for key in ("right", "fired", "found", "present")}
            cells[line["rule"], line["threshold"]][line["factor"]] = figures
    better = []
    for (rule, threshold), of_factor in sorted(cells.items()):
        same = of_factor.get("1")
        for factor in ("0.5", "2"):
            if same and factor in of_factor and (why := gain(same, of_factor[factor])):
                better.append(f"- `{threshold}` x {factor} for {rule}: {why}")
    head = "Thresholds, each alone at half or at double over the kept recordings of open templates ([all of them](THRESHOLDS.md)):"
    return [head, "", *(better or ["- none would do better"])]


def gain(same, other):
    """What is better, where nothing is worse."""
    found, wrong = other["found"] - same["found"], (other["fired"] - other["right"]) - (same["fired"] - same["right"])
    if found < 0 or wrong > 0 or other["right"] < same["right"]:
        return None
    said = []
    if found:
        said.append(f"finds {other['found']} of {same['present']} instead of {same['found']}")
    if wrong:
        said.append(f"{-wrong} fewer warnings about other causes")
    return ", ".join(said)


def confidences(rows):
    """Rules whose stated confidence lies outside of the interval of what was right, as first findings of slow programs."""
    stated, right = collections.defaultdict(list), collections.Counter()
    for row in rows:
        if row.get("variant") != "slow" or row["sealed"] or not row["findings"]:
            continue
        first = row["findings"][0]
        if first["severity"] in SERIOUS and first["confidence"] is not None:
            stated[first["id"]].append(first["confidence"])
            right[first["id"]] += row["right_first"]
    wrong = []
    for rule, values in sorted(stated.items()):
        low, high = wilson(right[rule], len(values))
        mean = sum(values) / len(values)
        if len(values) >= FEW and not low <= mean <= high:
            wrong.append(f"- {rule}: says {mean:.2f}, right {share(right[rule], len(values))}")
    head = f"`confidence` outside of the interval of what was right, of rules that came first {FEW} times or more:"
    return [head, "", *(wrong or ["- none"])]
