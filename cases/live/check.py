"""Judges one live case by its truth: the words that its case.sh puts into variables. Prints the case's line, or each thing that is wrong.

Reads from FOLDER the diagnoses NAME.json (`slow`, `fixed`, or others of a healthy case), `diff.json` of the two, NAME.top of profiles
and slow.requests. Nothing is passed over because the machine is busy: that threads wait for a CPU is right where the recording itself
shows who else took it, and the finding names that process.
"""
import argparse
import json
import pathlib
import re
import sys

QUEUE = "run-queue-delay"
CHAIN = "wait-chain"
# A process that takes so much of a CPU, as a mean over the recording, can keep others waiting; so can a crowd of small ones.
NEIGHBOUR = 0.05
CROWD = 0.3
# Of a case with a control group of its own (record.sh).
GROUPS = "/sys/fs/cgroup/whyslow-live"
# Requests that a recording may have begun or ended amid.
AT_THE_ENDS = 4
# Of its time, what the slow program must wait for a CPU for a truth not to be judged that says so.
DROWNED = 0.5
# Of a recording's time, what nothing tells of for the case's line to say so.
MOST_UNKNOWN = 0.05
# Characters of the first sentence (Diagnosis::MAX_VERDICT).
MAX_VERDICT = 120
IDLE = re.compile(r"cpu idle ([\d.]+) %")
CPUS = re.compile(r"of (\d+) CPUs")
BESIDE = re.compile(r"beside (.+? \((\d+)\))")
SEVERAL = re.compile(r"beside [\d,]+ processes of (.+?),")


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fires", action="append", default=[], metavar="[RECORDING/]ID", help="a finding of the slow recording, or of that one")
    parser.add_argument("--first", metavar="ID[|ID]", help="the slow recording's first finding")
    parser.add_argument("--names", action="append", default=[], metavar="ID: TEXT", help="what that finding must name")
    parser.add_argument("--says", action="append", default=[], metavar="TEXT", help="what the slow recording's first sentence must say; the fixed one's must not end there")
    parser.add_argument("--gone", action="append", default=[], metavar="ID", help="what the fix must take away")
    parser.add_argument("--waits", action="append", default=[], metavar="KIND[|KIND]", help="what some thread of the slow recording waits for most")
    parser.add_argument("--asks", action="append", default=[], metavar="PER_REQUEST: TEXT", help="what it asks others, so often for each request it serves")
    parser.add_argument("--calm", action="append", default=[], metavar="RECORDING|all", help="may have no warning or critical finding")
    parser.add_argument("--shares", action="append", default=[], metavar="PROFILE [cum] >=|<= PERCENT: REGEX", help="of a profile's time; or `diff: better`")
    parser.add_argument("--own", metavar="REGEX", help="of a recording of the whole host: the case's own programs; what is found of others is theirs")
    parser.add_argument("--quiet", metavar="WHY", help="why it cannot show where the recording says that others took the CPUs for most of the time")
    parser.add_argument("folder", type=pathlib.Path)
    return parser.parse_args()


def serious(findings):
    return [finding for finding in findings if finding["severity"] in ("warning", "critical")]


def told(finding):
    share = finding["share"]
    return f"{finding['id']} ({finding['severity']}" + (f", {share:.0%} of {finding['share_of']}" if share else "") + ")"


def text_of(finding):
    return json.dumps(finding, ensure_ascii=False)


def neighbours(diagnosis, of):
    """Processes that took a CPU while it was recorded, outside of the target; where the whole host is the target, all but `of`.
    Each with its CPUs, name and number."""
    took = []
    for process in (diagnosis.get("walk") or {}).get("processes", []):
        cpu = sum(amount["value"] for amount in process["takes"] if amount["what"] == "task_cpu")
        took.append((cpu, process["comm"], process["pid"]))
    target = {process["pid"] for process in diagnosis["target"]["processes"]}
    took = [one for one in took if one[2] != of]
    return [one for one in took if one[2] not in target] or took


def unlisted(diagnosis, of):
    """What the host's own counters say that others took, in CPUs: the walk lists few of many short-lived programs."""
    walk = diagnosis.get("walk") or {}
    cpu = next((resource for resource in walk.get("resources", []) if resource["name"] == "CPU"), None)
    idle = cpu and IDLE.search(" ".join(line["text"] for line in cpu["evidence"]))
    count = cpu and CPUS.search(cpu["reason"])
    if not idle or not count:
        return 0
    target = {process["pid"] for process in diagnosis["target"]["processes"]} if of is None else {of}
    took = (amount for process in walk["processes"] if process["pid"] in target for amount in process["takes"])
    own = sum(amount["value"] for amount in took if amount["what"] == "task_cpu")
    return int(count[1]) * (1 - float(idle[1]) / 100) - own


def own_findings(diagnosis, own, names):
    """The findings that are not about other programs on the same host: those of a recording of the whole host that are not the case's
    own (`own`), and those outside of a target that are seen to take a CPU or to wait for one. The control groups of other cases are theirs."""
    programs = {process["pid"]: process["comm"] or "" for process in diagnosis["target"]["processes"]}
    seen = {process["pid"] for process in (diagnosis.get("walk") or {}).get("processes", [])}
    for finding in diagnosis["findings"]:
        pid, comm = finding["subject"]["pid"], finding["subject"]["comm"] or ""
        path = finding["subject"]["path"] or ""
        if path.startswith(GROUPS) and not any(GROUPS.rpartition("/")[2] in fact for fact in names):
            continue
        # A control group is blamed for what its programs do: here for others' than the case's own.
        if own and pid is None and finding["title"].startswith(f"{path}: ") and not any(name and own.search(name) and name in text_of(finding) for name in programs.values()):
            continue
        if own and pid is not None and not own.search(programs.get(pid) or comm) and not own.search(comm):
            continue
        if not own and pid in seen and programs and pid not in programs:
            continue
        yield finding


def is_of_load(finding):
    """A finding that any program has beside one that takes the CPUs: a thread waits for one, and others for that thread."""
    return finding["id"] == QUEUE or finding["id"] == CHAIN and finding["title"].endswith("which waits for a CPU")


def is_measured(diagnosis, finding, pid):
    """True where the finding itself brings the figure of a foreign process that had the CPU: the host's table may not list one that came
    and went between two of its samples."""
    target = {process["pid"] for process in diagnosis["target"]["processes"]} | {finding["subject"]["pid"]}
    had = [figure["value"] for figure in finding["measurements"] if figure["name"] == "share_of_wait_for_other"]
    return pid not in target and any(share is not None and share >= CROWD for share in had)


def wrong_load(diagnosis, finding):
    """Why such a finding is not right as far as the recording shows, or None."""
    of = finding["subject"]["pid"]
    named = BESIDE.search(finding["title"])
    if finding["id"] == QUEUE and named and is_measured(diagnosis, finding, int(named[2])):
        return None
    several = SEVERAL.search(finding["title"])
    if finding["id"] == QUEUE and several and is_measured(diagnosis, finding, None):
        return None
    others = neighbours(diagnosis, of)
    if max(sum(cpu for cpu, *_ in others), unlisted(diagnosis, of)) < CROWD:
        shown = ", ".join(f"{comm} ({pid}) {cpu:.0%}" for cpu, comm, pid in others) or "none"
        return f"the recording shows no foreign load (of a CPU: {shown})"
    if finding["id"] != QUEUE:
        return None
    # Of several processes of one program the finding brings the figures of the first.
    if several:
        told = any(line["text"].startswith(f"{several[1]} (") for line in finding["evidence"])
        if told or any(comm == several[1] for _, comm, _ in others):
            return None
    # The walk shows the first few; the finding brings the figures of the one that it names.
    shown = named and any(line["text"].startswith(named[1] + ":") for line in finding["evidence"])
    if not named or int(named[2]) == of or not shown and all(pid != int(named[2]) for *_, pid in others):
        return f"it does not name who takes the CPUs: {finding['title']}"
    return None


def longest_waits(diagnosis):
    """Each thread that waits, and the kind of wait that costs it most."""
    for thread in diagnosis["time"]:
        if thread["waits"]:
            yield thread["comm"] or f"thread {thread['tid']}", max(thread["waits"], key=lambda wait: wait["ns"])["kind"]


def wrong_asks(truth):
    """Questions to others that are not told, or not as often for each request served."""
    rows = json.loads((truth.folder / "slow.requests").read_text())["rows"] if truth.asks else []
    served = sum(row["requests"] for row in rows if row["side"] == "server" and row["peer"] is None)
    has_gaps = truth.asks and any(finding["id"] == "events-lost" for finding in json.loads((truth.folder / "slow.json").read_text())["findings"])
    for fact in truth.asks:
        often, text = fact.split(": ", 1)
        asked = sum(row["requests"] for row in rows if row["side"] == "client" and text in row["endpoint"])
        # The recording begins and ends amid requests, of each of the clients. Where it has gaps, requests are cut there, and what they ask is
        # told without them.
        more = served if has_gaps else 0
        least, most = served - max(0.1 * served, AT_THE_ENDS), served + max(0.1 * served, AT_THE_ENDS, more)
        if not asked or not least <= asked / float(often) <= most:
            yield f"`{text}` is asked {asked} times in {served} requests, not {often} in each"


def share(table, column, function):
    """Percent of a profile's time in these functions, by the table of `top`: flat in column 1, with what they call in column 4."""
    for line in table.read_text().splitlines():
        columns = line.split(maxsplit=5)
        if len(columns) == 6 and columns[1].endswith("%") and columns[4].endswith("%") and function.search(columns[5]):
            yield float(columns[column].rstrip("%"))


def shares(truth):
    """What the truth says of profiles, as measured: text, and whether it is so."""
    for fact in truth.shares:
        where, text = fact.split(": ", 1)
        if where == "diff":
            diff = json.loads((truth.folder / "diff.json").read_text())
            change = diff["changes"][0]
            yield f"diff says: {change['text']}", change["outcome"] == text and diff["best"] == len(diff["steps"])
            continue
        *profile, sign, limit = where.split()
        parts = share(truth.folder / f"{profile[0]}.top", 4 if profile[1:] == ["cum"] else 1, re.compile(text))
        # Of functions that call each other only the largest counts.
        measured = max(parts, default=0.0) if profile[1:] == ["cum"] else sum(parts)
        yield f"{text} has {measured:.0f} % of {profile[0]}", measured >= float(limit) if sign == ">=" else measured <= float(limit)


def wrong_sentence(truth, found):
    """What the first sentence does not say of the end of the waits, or what there is no time, thread or place for on the way there."""
    if not truth.says:
        return
    slow, fixed = found["slow"], found.get("fixed")
    if missing := [text for text in truth.says if text not in slow["verdict"]]:
        yield f"the first sentence does not say {', '.join(map(repr, missing))}: {slow['verdict']}"
    if fixed and all(text in fixed["verdict"] for text in truth.says):
        yield f"the fixed one still ends there: {fixed['verdict']}"
    culprit = next((finding["culprit"] for finding in slow["findings"] if finding.get("culprit")), None)
    for hop in culprit["hops"] if culprit else []:
        lacking = [what for what in ("tid", "object", "ns") if hop[what] is None and not (hop["state"] is None and what == "tid")]
        # What computes or sleeps does so at no object.
        lacking = [what for what in lacking if what != "object" or hop is not culprit["hops"][-1]]
        if lacking:
            yield f"{hop['name']} ({hop['pid']}) on the way has no {', '.join(lacking)}"


def wrong_account(name, account):
    """Rows that do not add up to the asker's time, and rows of which more is claimed than there is."""
    rows = account["rows"]
    if (whole := sum(row["ns"] for row in rows)) != account["ns"]:
        yield f"{name}: the rows of the account are {whole} ns, and all of it is {account['ns']} ns"
    for row in rows:
        if (claimed := sum(claim["ns"] for claim in row["claimed_by"])) > row["ns"]:
            yield f"{name}: {claimed} ns are claimed of the {row['ns']} ns of {row['who']} in {row['state']}"


def unknown(found):
    """The largest part of a recording's time of which nothing tells what it was."""
    parts = [0.0]
    for name, diagnosis in found.items():
        account = diagnosis.get("account") if name != "diff" else None
        if account and account["ns"]:
            parts.append(sum(row["ns"] for row in account["rows"] if row["state"] == "unknown") / account["ns"])
    return max(parts)


def wrong_of(truth, found):
    """Each thing that is not as the truth says."""
    diagnoses = {name: diagnosis for name, diagnosis in found.items() if name != "diff"}
    expects_queue, expects_chain = (any(load in word for word in (*truth.fires, truth.first or "", *truth.gone)) for load in (QUEUE, CHAIN))
    for name, diagnosis in diagnoses.items():
        if len(diagnosis["verdict"]) > MAX_VERDICT:
            yield f"{name}: the first sentence has {len(diagnosis['verdict'])} characters: {diagnosis['verdict']}"
        yield from wrong_account(name, diagnosis["account"]) if diagnosis.get("account") else ()
        calm = name in truth.calm or "all" in truth.calm
        for finding in diagnosis["findings"]:
            expected = expects_queue if finding["id"] == QUEUE else expects_chain
            if is_of_load(finding) and (finding["id"] == QUEUE or calm):
                reason = None if expected else wrong_load(diagnosis, finding)
                if reason:
                    yield f"{name}: false alarm: {told(finding)}: {reason}"
            elif calm and finding in serious([finding]):
                yield f"{name}: false alarm: {told(finding)}: {finding['title']}"
    for wanted in truth.fires:
        recording, _, wanted = wanted.rpartition("/")
        ids = [finding["id"] for finding in found[recording or "slow"]["findings"]]
        if wanted not in ids:
            yield f"{recording} {wanted} is not found, but {', '.join(ids) or 'nothing'}".lstrip()
    findings = found["slow"]["findings"] if "slow" in found else []
    if truth.first:
        # A neighbour that the recording shows may well cost more than the case's own cause.
        expected = (*truth.first.split("|"), *truth.fires)
        own = (finding for finding in findings if finding["id"] in expected or not is_of_load(finding) or wrong_load(found["slow"], finding))
        first = next((finding["id"] for finding in own), None)
        if first not in truth.first.split("|"):
            yield f"{truth.first} is not first, but {first}"
    # A case with other recordings than `slow` fires in those that its truth names.
    sources = {wanted.rpartition("/")[0] or "slow" for wanted in truth.fires}
    all_findings = [finding for name in sources if name in found for finding in found[name]["findings"]]
    for fact in truth.names:
        wanted, text = fact.split(": ", 1)
        told_by = [text_of(finding) for finding in all_findings if finding["id"] == wanted]
        if told_by and not any(text in line for line in told_by):
            yield f"{wanted} does not name {text}"
    yield from wrong_sentence(truth, found)
    yield from wrong_asks(truth)
    yield from (text for text, is_so in shares(truth) if not is_so)
    for kind in truth.waits:
        if not any(longest in kind.split("|") for _, longest in longest_waits(found["slow"])):
            yield f"no thread waits for {kind} most"
    for wanted in truth.gone:
        left = [finding for finding in serious(found["fixed"]["findings"]) if finding["id"] == wanted]
        # The case's own neighbour is named in its truth; another one may still be there.
        blamed = [fact.split(": ", 1)[1] for fact in truth.names if fact.startswith(f"{QUEUE}: ")]
        if any(not is_of_load(finding) or wrong_load(found["fixed"], finding) or any(who in finding["title"] for who in blamed) for finding in left):
            yield f"{wanted} is still found in the fixed program"
        # Profiles are compared by their costs, not by findings.
        elif not left and "gone" in found["diff"] and wanted not in (change["id"] for change in found["diff"]["gone"]):
            yield f"diff does not say that {wanted} is gone: {found['diff']['verdict']}"


def drowned(diagnosis):
    """Who took the CPUs from the program for most of its time, by the recording; None where nobody did."""
    others = neighbours(diagnosis, None)
    waited = max((thread["runnable_ns"] or 0) / max(thread["wall_ns"] or 1, 1) for thread in diagnosis["time"])
    if waited < DROWNED or sum(cpu for cpu, *_ in others) < CROWD:
        return None
    first = max(others)
    return f"it waited for a CPU {waited:.0%} of its time, beside {first[1]} ({first[2]}) and others"


def summary(truth, found):
    if truth.shares:
        return "; ".join([*truth.fires, *(text for text, _ in shares(truth))])
    if "slow" not in found:
        calls = sum(diagnosis["target"]["events"] for diagnosis in found.values())
        return f"{', '.join(found)}: no false alarm in {calls:,} events"
    findings = found["slow"]["findings"]
    if truth.says:
        return found["slow"]["verdict"]
    if not truth.fires:
        who = (f"{comm} waits for {kind}" for comm, kind in longest_waits(found["slow"]) if any(kind in wanted.split("|") for wanted in truth.waits))
        return f"{', '.join(sorted(set(who)))}; no rule names the cause yet"
    line = next(finding["title"] for finding in findings if finding["id"] in truth.fires)
    return f"{line}; gone with the fix" if truth.gone else line


def main():
    truth = parse()
    found = {path.stem: json.loads(path.read_text()) for path in sorted(truth.folder.glob("*.json"))}
    for name, diagnosis in found.items():
        if name != "diff":
            diagnosis["findings"] = list(own_findings(diagnosis, truth.own and re.compile(truth.own), truth.names))
    wrong = list(wrong_of(truth, found))
    if wrong and truth.quiet and (who := drowned(found["slow"])):
        print(f"skipped: {truth.quiet}: {who}: {'; '.join(wrong)}")
        sys.exit()
    for line in wrong:
        print(f"wrong: {line}")
    if not wrong:
        queues = [finding["title"] for name, diagnosis in found.items() if name != "diff" for finding in diagnosis["findings"] if finding["id"] == QUEUE]
        loaded = f"; beside a neighbour: {queues[0]}" if queues and QUEUE not in truth.fires else ""
        part = unknown(found)
        print(summary(truth, found) + loaded + (f"; of {part:.0%} of the time nothing tells what it was" if part > MOST_UNKNOWN else ""))
    sys.exit(bool(wrong))


main()
