"""Under which conditions a program is run and recorded. All are drawn; each one can be typed, so that a draw can be repeated."""
import dataclasses
import random

# What is drawn, with its weight. Names are those of the page and of `truth/run one`.
WINDOWS = {2: 55, 5: 37, 30: 8}
PHASES = {"attach": 65, "start": 35}
HOSTS = {"idle": 62, "neighbour": 12, "quota": 9, "full-disk": 9, "second-cause": 8}
LANES = {"live": 60, "strace": 40}
MODES = {"adaptive": 60, "full": 22, "counts": 18}
# Each option of strace, and how often (of 100) it is there.
STRACE_OPTIONS = {"-f": 80, "-T": 75, "-y": 35, "-s 256": 50}
STRACE_CLOCKS = {"-ttt": 45, "-tt": 45, "-r": 10}
BESIDE = {"nothing": 45, "lsof": 30, "tables": 25}
VARIANTS = {"slow": 60, "healthy": 25, "fixed": 15}


@dataclasses.dataclass(frozen=True)
class Condition:
    """How one program is recorded."""

    lane: str
    phase: str
    window: int
    host: str
    # Live: the mode. strace: its options.
    how: str
    # What is collected beside strace.
    beside: str = "nothing"

    def words(self):
        """As `truth/run one` takes it."""
        return ["--lane", self.lane, "--phase", self.phase, "--window", str(self.window), "--host", self.host, f"--how={self.how}", "--beside", self.beside]

    def names(self):
        """All that can be tabulated: `window 2 s`, `no -f`."""
        yield self.lane
        yield f"{self.phase}ed" if self.phase == "attach" else "from the start"
        yield f"window of {self.window} s"
        yield f"host: {self.host}"
        if self.lane == "live":
            yield f"live, {self.how}"
            return
        for option in STRACE_OPTIONS:
            is_there = option.split()[0] in self.how.split()
            yield f"strace {'with' if is_there else 'without'} {option.split()[0]}"
        yield f"beside strace: {self.beside}"


def weighted(chance, weights):
    return chance.choices(list(weights), list(weights.values()))[0]


def drawn(chance, template):
    """A condition under which the template's cause can show."""
    excluded = set(template.text.get("not", []))
    if any(program.get("user") for program in template.text["program"] if program["role"] == "target"):
        # The recorder would be started as that user.
        excluded.add("start")
    allowed = lambda weights: {name: weight for name, weight in weights.items() if name not in excluded}
    lane = weighted(chance, allowed(LANES))
    if lane == "live":
        how, beside = weighted(chance, MODES), "nothing"
    else:
        options = [option for option, often in STRACE_OPTIONS.items() if chance.random() * 100 < often]
        how, beside = " ".join([*options, weighted(chance, STRACE_CLOCKS)]), weighted(chance, BESIDE)
    hosts = allowed(HOSTS)
    if template.kind != "job" or lane != "live":
        hosts.pop("second-cause", None)
    return Condition(lane, weighted(chance, allowed(PHASES)), weighted(chance, WINDOWS), weighted(chance, hosts), how, beside)


class Planned:
    """One draw: a template, its variant, seed, and condition."""

    def __init__(self, template, variant, seed, source, condition, second=None):
        self.template, self.variant, self.seed, self.source = template, variant, seed, source
        self.condition, self.second = condition, second

    def command(self):
        """What repeats it."""
        second = ["--second", self.second.name] if self.second else []
        words = ["truth/run", "one", self.template.name, "--source", self.source, "--seed", self.seed, "--variant", self.variant]
        return " ".join([*words, *(f"'{word}'" if " " in word else word for word in self.condition.words()), *second])


def plan(templates, seed, count):
    """`count` draws: every template comes once before one comes twice; all else is drawn."""
    chance = random.Random(f"plan {seed}")
    order, planned = [], []
    # What fits beside another one as its second, smaller cause.
    seconds = [template for template in templates if template.kind == "job" and template.measure == "time" and not template.is_sealed]
    while len(planned) < count:
        if not order:
            order = list(templates)
            chance.shuffle(order)
        template = order.pop()
        source = chance.choice(template.languages())
        condition = drawn(chance, template)
        variant = weighted(chance, VARIANTS)
        second = None
        if condition.host == "second-cause":
            variant = "slow"
            others = [other for other in seconds if other.cause != template.cause]
            second = chance.choice(others) if others else None
            if second is None:
                condition = dataclasses.replace(condition, host="idle")
        planned.append(Planned(template, variant, f"{seed}.{len(planned)}", source, condition, second))
    return planned
