"""A template: `template.toml` and sources beside it (truth/README.md has the format). Reads and checks it, and draws one program of it."""
import pathlib
import random
import re
import socket
import tomllib

import languages
import words

PLACE = re.compile(r"@\{(\w+)\}")
# Stand-ins for what is outside of a target, that several templates use: a slow disk, a slow service.
SHARED = pathlib.Path(__file__).resolve().parents[1] / "parts"
VARIANTS = ("slow", "fixed", "healthy")
ROLES = ("target", "peer", "load")
KEYS = {"cause", "also", "summary", "kind", "culprit", "process", "site", "measure", "share", "needs", "not", "param", "program", "setup", "flags", *VARIANTS}
PROGRAM_KEYS = {"name", "role", "source", "command", "arguments", "ready", "load", "environment", "user"}
# Given to each program by the run.
GIVEN = {"work", "seconds", "report", "variant", "app", "Class", "fn", "fn2", "fnCamel"}


class Wrong(Exception):
    """A template that is not as it must be."""


class Program:
    """One process to start, with all parameters put in."""

    def __init__(self, name, role, command, ready=None, load=None, environment=None, user=None):
        self.name, self.role, self.command, self.ready = name, role, command, ready
        self.load, self.environment, self.user = load, environment or {}, user


class Template:
    """A cause's slow program, its fix, and its healthy twin."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.name = self.folder.name
        path = self.folder / "template.toml"
        try:
            self.text = tomllib.loads(path.read_text())
        except (OSError, tomllib.TOMLDecodeError) as error:
            raise Wrong(f"{path}: {error}") from error
        self.is_sealed = self.folder.parent.name == "sealed"
        self.cause = self.text.get("cause", "")
        self.right = [self.cause, *self.text.get("also", [])]
        self.kind = self.text.get("kind", "job")
        # What the slow program is measured by: time for each unit, or nothing where it does not lose time but leaks or refuses.
        self.measure = self.text.get("measure", "time")
        self.check()

    def check(self):
        """That nothing is missing, misspelt, or not of a known kind."""
        self.must(not (unknown := set(self.text) - KEYS), f"unknown keys {sorted(unknown)}; known: {sorted(KEYS)}")
        for key in ("cause", "summary", "culprit", "program"):
            self.must(self.text.get(key), f"`{key}` is missing")
        self.must(self.kind in ("job", "server"), "`kind` is `job` or `server`")
        self.must(self.measure in ("time", "none"), "`measure` is `time` or `none`")
        for program in self.text["program"]:
            self.must(not (unknown := set(program) - PROGRAM_KEYS), f"unknown keys of a program: {sorted(unknown)}")
            self.must(program.get("role") in ROLES, f"a program's `role` is one of {ROLES}")
            self.must(sum(key in program for key in ("source", "command", "load")) == 1, "a program has one of `source`, `command`, `load`")
            for source in self.sources(program):
                self.must(self.path_of(source).is_file(), f"{source} is neither here nor in truth/parts")
                self.must(pathlib.PurePath(source).suffix in languages.LANGUAGES, f"{source}: no known language")
        names = [program.get("name", program["role"]) for program in self.text["program"]]
        process = self.text.get("process")
        self.must(process is None or names.count(process) == 1, f"`process` names one of {names}, of which there is one")
        self.must(isinstance(self.text.get("site", []), (list, dict)), "`site` is a list, or one a language")
        self.must(any(program["role"] == "target" for program in self.text["program"]), "no program is the `target`")

    def must(self, true, what):
        if not true:
            raise Wrong(f"{self.folder}/template.toml: {what}")

    @staticmethod
    def sources(program):
        source = program.get("source", [])
        return [source] if isinstance(source, str) else source

    def path_of(self, source):
        """A source of its own, or one that several templates share."""
        own = self.folder / source
        return own if own.exists() else SHARED / source

    def languages(self):
        """The languages that the target can be of and whose tools are there: names of sources; `command` where it is a server."""
        target = next(program for program in self.text["program"] if program["role"] == "target")
        if "command" in target:
            return [target["command"].split()[0]]
        return [source for source in self.sources(target) if languages.is_there(languages.of(source).tool)]

    def missing(self):
        """The first program that it needs and that is not there."""
        return next((tool for tool in self.text.get("needs", []) if not languages.is_there(tool)), None)

    def draw(self, seed, source=None):
        """One program of it: the parameters of all variants, and the target's source. The same for the same seed."""
        chance = random.Random(f"{self.name} {seed}")
        source = source or chance.choice(self.languages())
        telling = [word for word in self.cause.split("-") if len(word) > 4]
        apps = [app for app in words.APPS if app not in self.name and not any(word in app for word in telling)]
        values = {"app": chance.choice(apps)}
        values["Class"] = values["app"].capitalize() + chance.choice(["", "App", "Main", "Service", "Worker"])
        values["fn"], values["fn2"] = chance.sample(sorted({words.identifier(chance) for _ in range(9)}), 2)
        first, *rest = values["fn"].split("_")
        values["fnCamel"] = first + "".join(word.capitalize() for word in rest)
        for name, spec in self.text.get("param", {}).items():
            values[name] = drawn(spec, chance, values, self.must)
        return Draw(self, seed, source, values)


class Draw:
    """A template with its parameters drawn."""

    def __init__(self, template, seed, source, values):
        self.template, self.seed, self.source, self.values = template, seed, source, values

    @property
    def language(self):
        """The target's language, or the name of its server."""
        suffix = pathlib.PurePath(self.source).suffix
        return languages.LANGUAGES[suffix].name if suffix in languages.LANGUAGES else pathlib.PurePath(self.source).name

    def of_variant(self, variant, work, seconds):
        """All values of one variant that is run in the folder `work`."""
        given = {"work": str(work), "seconds": str(float(seconds)), "report": f"{work}/report.json", "variant": variant}
        values = {**self.values, **given}
        chance = random.Random(f"{self.template.name} {self.seed} {variant}")
        for name, spec in self.template.text.get(variant, {}).items():
            values[name] = drawn(spec, chance, values, self.template.must)
        return values

    def culprits(self, values):
        """The texts of which the first sentence must have one."""
        return [fill(text, values) for text in self.template.text["culprit"]]

    def programs(self, values, work, kept):
        """Writes and builds the sources; the programs in the order in which they are started."""
        made = []
        for program in self.template.text["program"]:
            arguments = [fill(word, values) for word in program.get("arguments", [])]
            if "source" in program:
                sources = self.template.sources(program)
                source = self.source if program["role"] == "target" else next(s for s in sources if languages.is_there(languages.of(s).tool))
                command = [*self.built(source, program, values, work, kept), *arguments]
            elif "command" in program:
                command = [*fill(program["command"], values).split(), *arguments]
            else:
                command = None
            environment = {name: fill(text, values) for name, text in program.get("environment", {}).items()}
            load = {key: fill(str(text), values) for key, text in program["load"].items()} if "load" in program else None
            ready = fill(program["ready"], values) if "ready" in program else None
            made.append(Program(program.get("name", program["role"]), program["role"], command, ready, load, environment, program.get("user")))
        return made

    def built(self, source, program, values, work, kept):
        """The command of a source: its text with the parameters put in, under a name of its own."""
        suffix = pathlib.PurePath(source).suffix
        if program["role"] == "target":
            stem = values["Class"] if suffix == ".java" else values["app"]
        else:
            stem = program.get("name", program["role"]).capitalize() if suffix == ".java" else program.get("name", program["role"])
        text = fill(self.template.path_of(source).read_text(), {**values, "Class": stem} if suffix == ".java" else values)
        path = pathlib.Path(work) / (stem + suffix)
        path.write_text(text)
        flags = self.template.text.get("flags", {}).get(languages.of(source).name, [])
        return languages.command(path, kept, flags)


def fill(text, values):
    """`text` with its `@{places}` filled."""
    def value(found):
        if found[1] not in values:
            raise Wrong(f"@{{{found[1]}}}: no such parameter")
        return str(values[found[1]])
    return PLACE.sub(value, text)


def drawn(spec, chance, values, must):
    """The value of one parameter: a plain one, or a table with one kind of draw."""
    if not isinstance(spec, dict):
        return fill(spec, values) if isinstance(spec, str) else spec
    if "int" in spec or "float" in spec:
        low, high = spec.get("int") or spec.get("float")
        value = low * (high / low) ** chance.random() if spec.get("log") else chance.uniform(low, high)
        return round(value) if "int" in spec else round(value, 6)
    if "choice" in spec:
        value = chance.choice(spec["choice"])
        return fill(value, values) if isinstance(value, str) else value
    if "file" in spec:
        return words.file_name(chance, spec["file"])
    if "folder" in spec:
        return chance.choice(words.FOLDERS)
    if "name" in spec:
        return words.identifier(chance, spec["name"] if isinstance(spec["name"], str) else "_")
    if "port" in spec:
        return free_port(chance)
    if "expr" in spec:
        # A template is code of this project: its expressions are too.
        return eval(spec["expr"], {"__builtins__": {"min": min, "max": max, "int": int, "round": round, "str": str}}, dict(values))
    return must(False, f"unknown kind of parameter: {spec}")


def free_port(chance):
    """A port of loopback on which nobody listens, below those that the kernel gives to clients."""
    for _ in range(200):
        port = chance.randint(10_000, 31_000)
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue
    raise RuntimeError("no port is free")


def all_in(folder):
    """The templates of a folder, by name."""
    return [Template(path.parent) for path in sorted(pathlib.Path(folder).glob("*/template.toml"))]
