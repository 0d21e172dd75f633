"""Other people's captures, and the source cases of the project: judged by the cause that their authors state (truth/captures.toml)."""
import collections
import csv
import pathlib
import tomllib

from judge import ABOUT_CAPTURE, SERIOUS, asked
from running import Failed
from stats import share

HERE = pathlib.Path(__file__).resolve().parents[1]
# They are not in the repository: licences differ.
PUBLISHED = HERE.parents[1] / "shared/captures"
SOURCES = HERE.parent / "captures/seeds"


def section():
    """The part of the page about captures."""
    known = tomllib.loads((HERE / "captures.toml").read_text())
    lines = ["## Other people's captures", "", "Judged by the cause that is stated where they were published, and the source cases of this project (whose figures rules were written by).", "",
             "| capture | stated cause | whyslow says first | |", "|---|---|---|---|"]
    for entry in known["capture"]:
        said, outcome = judged(entry)
        lines.append(f"| {entry['name']} | {entry['stated']} | {said} | {outcome} |")
    lines += ["", "Not judged:", "", *(f"- {entry['name']}: {entry['why']}" for entry in known["not_judged"])]
    return "\n".join([*lines, "", unknown({entry["path"] for entry in known["capture"]})])


def judged(entry):
    """What is said of one capture, and whether that is right."""
    path = next((root / entry["path"] for root in (SOURCES, PUBLISHED) if (root / entry["path"]).exists()), None)
    if path is None:
        return "-", "not here"
    try:
        diagnosis = asked("diagnose", "--json", path)
    except Failed as error:
        return str(error).splitlines()[0][:100], "**missed**"
    about = [finding for finding in diagnosis["findings"] if finding["severity"] != ABOUT_CAPTURE]
    ids = [finding["id"] for finding in about]
    first = ids[0] if ids else "no finding"
    if entry.get("well"):
        return first, "**false alarm**" if any(finding["severity"] in SERIOUS for finding in about) else "right"
    if first in entry.get("right", []):
        return first, "right"
    if any(name in entry.get("right", []) for name in ids):
        return first, "found, not first"
    return first, "**missed**"


def unknown(known):
    """Captures of which nothing is known: how many get a warning."""
    index = PUBLISHED / "INDEX.tsv"
    if not index.exists():
        return "The published captures are not here."
    with open(index, newline="") as rows:
        paths = [row["path"] for row in csv.DictReader(rows, delimiter="\t", quoting=csv.QUOTE_NONE)]
    warned, count = collections.Counter(), 0
    alarmed = 0
    for name in sorted(set(paths) - known):
        path = PUBLISHED / name
        if not path.is_file() or path.suffix == ".tsv":
            continue
        count += 1
        try:
            diagnosis = asked("diagnose", "--json", path)
        except (Failed, ValueError):
            warned["(not read)"] += 1
            continue
        serious = {f["id"] for f in diagnosis["findings"] if f["severity"] in SERIOUS}
        alarmed += bool(serious)
        warned.update(serious)
    rules = ", ".join(f"{name} {times}" for name, times in warned.most_common())
    return f"Of {count} more published captures no cause is stated; a warning is given for {share(alarmed, count)}, right or wrong: {rules}."
