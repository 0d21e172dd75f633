"""Checks the diagnoses of one live case against the case's truth; prints its one line, or each thing that is wrong.

Reads DIAGNOSIS.json files by name: `slow` (or, of a healthy case, any), `fixed`, and `diff` of the two.

A recording sees threads wait for a CPU. Where other work fills the machine that is true of any program and nothing of the
case: then `run-queue-delay` is passed over, unless the truth names it, and the line says so.
"""
import argparse
import json
import os
import pathlib
import sys


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--name", required=True)
    parser.add_argument("--fires", action="append", default=[], metavar="[RECORDING/]ID", help="a finding of the slow recording, or of that one")
    parser.add_argument("--first", metavar="ID[|ID]", help="the slow recording's first finding")
    parser.add_argument("--names", action="append", default=[], metavar="ID: TEXT", help="what that finding must name")
    parser.add_argument("--gone", action="append", default=[], metavar="ID", help="what the fix must take away")
    parser.add_argument("--waits", action="append", default=[], metavar="KIND[|KIND]", help="what some thread of the slow recording waits for most")
    parser.add_argument("--asks", action="append", default=[], metavar="PER_REQUEST: TEXT", help="what it asks others, so often for each request it serves")
    parser.add_argument("--requests", type=pathlib.Path, help="the slow recording's requests")
    parser.add_argument("--calm", action="append", default=[], metavar="RECORDING|all", help="may have no warning or critical finding")
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    return parser.parse_args()


NOISE = "run-queue-delay"


def is_busy():
    """More wants to run than there are CPUs, over the last minute."""
    return os.getloadavg()[0] > os.cpu_count()


def without_noise(truth, found):
    """Takes the noise of a busy machine out of the diagnoses; whether there was any."""
    named = any(NOISE in told for told in (*truth.fires, truth.first or "", *truth.gone))
    if named or not is_busy():
        return False
    noisy = False
    for name, diagnosis in found.items():
        if name != "diff":
            kept = [finding for finding in diagnosis["findings"] if finding["id"] != NOISE]
            noisy |= len(kept) < len(diagnosis["findings"])
            diagnosis["findings"] = kept
    return noisy


def serious(findings):
    return [finding for finding in findings if finding["severity"] in ("warning", "critical")]


def told(finding):
    share = finding["share"]
    return f"{finding['id']} ({finding['severity']}" + (f", {share:.0%} of {finding['share_of']}" if share else "") + ")"


def longest_waits(diagnosis):
    """Each thread that waits, and the kind of wait that costs it most."""
    for thread in diagnosis["time"]:
        if thread["waits"]:
            yield thread["comm"] or f"thread {thread['tid']}", max(thread["waits"], key=lambda wait: wait["ns"])["kind"]


def wrong_asks(truth):
    """Questions to others that are not told, or not as often for each request served."""
    rows = json.loads(truth.requests.read_text())["rows"] if truth.asks else []
    served = sum(row["requests"] for row in rows if row["side"] == "server" and row["peer"] is None)
    for fact in truth.asks:
        often, text = fact.split(": ", 1)
        asked = sum(row["requests"] for row in rows if row["side"] == "client" and text in row["endpoint"])
        # The recording begins and ends amid requests.
        if not asked or abs(asked / max(served, 1) / float(often) - 1) > 0.1:
            yield f"`{text}` is asked {asked} times in {served} requests, not {often} in each"


def wrong_of(truth, found):
    """Each thing that is not as the truth says."""
    for name, diagnosis in found.items():
        if name in truth.calm or ("all" in truth.calm and name != "diff"):
            for finding in serious(diagnosis["findings"]):
                yield f"{name}: false alarm: {told(finding)}: {finding['title']}"
    for wanted in truth.fires:
        recording, _, wanted = wanted.rpartition("/")
        ids = [finding["id"] for finding in found[recording or "slow"]["findings"]]
        if wanted not in ids:
            yield f"{recording} {wanted} is not found, but {', '.join(ids) or 'nothing'}".lstrip()
    findings = found["slow"]["findings"] if "slow" in found else []
    if truth.first:
        first = next((finding["id"] for finding in findings), None)
        if first not in truth.first.split("|"):
            yield f"{truth.first} is not first, but {first}"
    for fact in truth.names:
        wanted, text = fact.split(": ", 1)
        told_by = [json.dumps(finding, ensure_ascii=False) for finding in findings if finding["id"] == wanted]
        if told_by and not any(text in line for line in told_by):
            yield f"{wanted} does not name {text}"
    yield from wrong_asks(truth)
    for kind in truth.waits:
        if not any(longest in kind.split("|") for _, longest in longest_waits(found["slow"])):
            yield f"no thread waits for {kind} most"
    if truth.gone:
        left = [finding["id"] for finding in serious(found["fixed"]["findings"])]
        gone = [change["id"] for change in found["diff"]["gone"]]
        for wanted in truth.gone:
            if wanted in left:
                yield f"{wanted} is still found in the fixed program"
            elif wanted not in gone:
                yield f"diff does not say that {wanted} is gone: {found['diff']['verdict']}"


def summary(truth, found):
    if "slow" not in found:
        calls = sum(diagnosis["target"]["events"] for diagnosis in found.values())
        return f"{', '.join(found)}: no false alarm in {calls:,} events"
    findings = found["slow"]["findings"]
    if not truth.fires:
        who = (f"{comm} waits for {kind}" for comm, kind in longest_waits(found["slow"]) if any(kind in wanted.split("|") for wanted in truth.waits))
        return f"{', '.join(sorted(set(who)))}; no rule names the cause yet"
    line = next(finding["title"] for finding in findings if finding["id"] in truth.fires)
    return f"{line}; gone with the fix" if truth.gone else line


def main():
    truth = parse()
    found = {path.stem: json.loads(path.read_text()) for path in truth.files}
    noisy = without_noise(truth, found)
    wrong = list(wrong_of(truth, found))
    for line in wrong:
        print(f"live case: {truth.name}: wrong: {line}")
    if not wrong:
        noise = f"; {NOISE} passed over: the machine is busy" if noisy else ""
        print(f"live case: {truth.name}: ok ({summary(truth, found)}{noise})")
    sys.exit(bool(wrong))


main()
