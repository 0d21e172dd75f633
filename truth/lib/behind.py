"""Whether a finding names the process that is to blame, and the function or line in it, as a template tells both."""
import pathlib
import re

import languages

# Places in a template that stand for functions; which program's sources have them is whose they are.
FUNCTIONS = re.compile(r"@\{(?:fn|fn2|fnCamel)\}")
# The kernel keeps so much of a program's name (TASK_COMM_LEN less one).
COMM = 15
# A line as it is told: the file and the number.
LINE = re.compile(r"([^/\s]+):(\d+)$")


class Behind:
    """The program to blame (None: the target), and texts that are functions, or stand in the lines, that are to blame (none: not known)."""

    def __init__(self, program, sites, source):
        self.program, self.sites, self.source = program, sites, source


def of(draw, values, fill):
    """What the template tells of a draw; None where it does not tell whose fault it is."""
    text = draw.template.text
    programs = {program.get("name", program["role"]): program for program in text["program"]}
    sites = text.get("site") or [word for word in text["culprit"] if FUNCTIONS.fullmatch(word)]
    if isinstance(sites, dict):
        sites = sites.get(draw.language, [])
    name = text.get("process") or owner(draw, programs, sites)
    if name is None:
        return None
    program = programs[name]
    is_target = program["role"] == "target"
    source = draw.source if is_target else (draw.template.sources(program) or [None])[0]
    return Behind(None if is_target else name, [fill(word, values) for word in sites], source)


def owner(draw, programs, sites):
    """The only program whose sources have one of these functions; None where there is none, or where there are several. A target that has peers
    may be named for its wait, and the peer be to blame: that only `process` tells."""
    words = [word for word in sites if FUNCTIONS.fullmatch(word)]

    def has(program):
        is_target = program["role"] == "target"
        sources = [draw.source] if is_target and pathlib.PurePath(draw.source).suffix in languages.LANGUAGES else draw.template.sources(program)
        return any(word in draw.template.path_of(source).read_text() for source in sources for word in words)

    found = [name for name, program in programs.items() if has(program)]
    if len(found) != 1:
        return None
    has_peers = any(program["role"] == "peer" for program in programs.values())
    return None if has_peers and programs[found[0]]["role"] == "target" else found[0]


def names_process(behind, finding):
    """Whether the finding's culprit is that process: one that was followed, or none where the target itself is to blame."""
    culprit = finding.get("culprit")
    if behind.program is None or culprit is None:
        return (behind.program is None) == (culprit is None)
    expected = behind.program.casefold()
    told = {pathlib.PurePath(word).stem.casefold()[:COMM] for word in culprit["name"].split()}
    return expected[:COMM] in told


def names_site(behind, finding, rows, text):
    """Whether the finding's function is one of those, or its line has one of these texts in the source `text`. `rows` are those of the account."""
    culprit = finding.get("culprit")
    if culprit:
        told = [(culprit.get("function"), culprit.get("place")), (culprit.get("caller"), culprit.get("caller_place"))]
    else:
        claimed = [row for row in rows if any(claim["id"] == finding["id"] for claim in row.get("claimed_by", []))]
        told = [(row.get("function"), row.get("place")) for row in claimed[:1]]
        told.append(((finding.get("subject") or {}).get("function"), None))
        # The report prints all: where it is, who calls that, and within which function.
        code = finding.get("code") or {}
        told += [(code.get(which), code.get(place)) for which, place in (("function", "place"), ("caller", "caller_place"), ("within", "within_place"))]
    return any(is_site(function, place, behind, text) for function, place in told)


def is_site(function, place, behind, text):
    if any(is_word(site, function or "") for site in behind.sites):
        return True
    line = LINE.search(place or "")
    lines = text.splitlines()
    if not line or not 1 <= int(line[2]) <= len(lines) or pathlib.PurePath(line[1]).suffix != pathlib.PurePath(behind.source or "").suffix:
        return False
    return any(is_word(site, lines[int(line[2]) - 1]) for site in behind.sites)


def is_word(word, text):
    """True where `text` has that, and not as a part of a longer name."""
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) is not None


def judged(planned, observed, diagnosis, finding, fill):
    """Whether `process` and `line` are named, each None where it cannot be told: of captures of the target alone, of templates that do not say
    so, of lines where no stacks were recorded or where the program's language has none."""
    draw = planned.template.draw(planned.seed, planned.source)
    behind = of(draw, observed.values, fill)
    if behind is None or planned.condition.lane != "live":
        return {"process": None, "line": None}
    result = {"process": finding is not None and names_process(behind, finding), "line": None}
    suffix = pathlib.PurePath(behind.source or "").suffix
    if behind.sites and suffix in languages.LANGUAGES and languages.LANGUAGES[suffix].has_lines:
        rows = (diagnosis.get("account") or {}).get("rows") or []
        text = fill(draw.template.path_of(behind.source).read_text(), observed.values)
        result["line"] = result["process"] and names_site(behind, finding, rows, text)
    return result
