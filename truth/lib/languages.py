"""How a source is built and started, by the ending of its name. A new language is one entry here."""
import functools
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys

# Seconds that a compiler may take.
BUILD_LIMIT_S = 120


class Language:
    """One language: `tool` must be there; `build` makes a program in a folder; `start` is its command. `has_lines`: a recorder can tell its
    functions and lines (docs/STACKS.md)."""

    def __init__(self, name, tool, start, build=None, has_lines=True):
        self.name, self.tool, self.start, self.build, self.has_lines = name, tool, start, build, has_lines


def compiled(*command):
    """A compiler that is called as COMMAND... SOURCE -o PROGRAM, with more flags behind."""
    return lambda source, program, flags: [*command, str(source), "-o", str(program), *flags]


def javac(source, program, flags):
    return ["javac", "-g", "-nowarn", "-d", f"{program}.classes", *flags, str(source)]


# `java_opts` and the like come first in `arguments` of a program in template.toml: they are the program's, not ours.
LANGUAGES = {
    ".c": Language("c", "cc", lambda source, program: [program], compiled("cc", "-O2", "-g", "-pthread")),
    ".cpp": Language("cpp", "g++", lambda source, program: [program], compiled("g++", "-O2", "-g", "-pthread", "-std=c++17")),
    ".rs": Language("rust", "rustc", lambda source, program: [program], compiled("rustc", "--edition=2021", "-O", "-g")),
    ".go": Language("go", "go", lambda source, program: [program], lambda source, program, flags: ["go", "build", *flags, "-o", str(program), str(source)]),
    ".java": Language("java", "java", lambda source, program: ["java", "-cp", f"{program}.classes", source.stem], javac),
    ".py": Language("python", "python3", lambda source, program: [sys.executable, source]),
    ".js": Language("node", "node", lambda source, program: ["node", source]),
    ".rb": Language("ruby", "ruby", lambda source, program: ["ruby", source]),
    ".pl": Language("perl", "perl", lambda source, program: ["perl", source]),
    ".php": Language("php", "php", lambda source, program: ["php", source]),
    ".sh": Language("shell", "bash", lambda source, program: ["bash", source], has_lines=False),
}


def of(source):
    """The language of a source's name."""
    return LANGUAGES[pathlib.PurePath(source).suffix]


@functools.cache
def is_there(tool):
    """True where a program is on the PATH, or where those of root are."""
    return shutil.which(tool, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin") is not None


def command(source, kept, flags=()):
    """Builds `source` (a file), once for the same text, below the folder `kept`; the command that starts it."""
    language = of(source)
    if language.build is None:
        return [str(word) for word in language.start(source, None)]
    text = source.read_bytes() + "\0".join(flags).encode() + source.name.encode()
    folder = kept / hashlib.sha256(text).hexdigest()[:24]
    program = folder / source.stem
    if not (folder / "built").exists():
        folder.mkdir(parents=True, exist_ok=True)
        environment = {**os.environ, "GOFLAGS": "-mod=mod", "GO111MODULE": "off"}
        done = subprocess.run(
            language.build(source, program, list(flags)), capture_output=True, text=True, timeout=BUILD_LIMIT_S, env=environment, cwd=folder
        )
        if done.returncode:
            raise RuntimeError(f"{source.name} does not build:\n{done.stderr or done.stdout}")
        (folder / "built").touch()
    return [str(word) for word in language.start(source, program)]
