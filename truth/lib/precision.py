"""How often a warning of each rule was the right first finding: what whyslow states as `confidence`. Of sealed templates it counts all rules
together, and never one of them."""
import collections

SERIOUS = ("critical", "warning")


def written(rows):
    """The table, and whether a warning was right: of open templates, and of all."""
    first, right = collections.Counter(), collections.Counter()
    warned, warned_right = collections.Counter(), collections.Counter()
    for row in rows:
        if row.get("variant") != "slow" or "right_first" not in row:
            continue
        if row["sealed"]:
            # Which rule it was is not kept; that one warned is: what is silent is neither right nor wrong.
            is_warned = row["right_first"] or row["miss"] != "silent"
        else:
            found = row["findings"][0] if row["findings"] else None
            is_warned = bool(found) and found["severity"] in SERIOUS
            if is_warned:
                first[found["id"]] += 1
                right[found["id"]] += row["right_first"]
        kinds = ["all"] if row["sealed"] else ["all", "open"]
        for kind in kinds if is_warned else []:
            warned[kind] += 1
            warned_right[kind] += row["right_first"]
    lines = ["# Written by `truth/run precision` from truth/runs/: draws in which a warning of the rule was the first finding, and those in which it was right.", "rule\tfirst\tright"]
    lines += [f"({kind})\t{warned[kind]}\t{warned_right[kind]}" for kind in ("all", "open")]
    lines += [f"{rule}\t{first[rule]}\t{right[rule]}" for rule in sorted(first)]
    return "\n".join(lines) + "\n"
