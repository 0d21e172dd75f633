//! Programs that an interpreter or a virtual machine runs: which, and until when each loads its code.

use super::fold::Fold;
use crate::world::ids::ProcessId;
use crate::world::{Seen, World};
use hashbrown::HashMap;
use whyslow_model::{Nanos, Syscall, Timestamp};

/// The start of one process.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    /// The interpreter: `python`, `node`, `java`; `None` where none of those known runs it.
    pub interpreter: Option<&'static str>,
    /// When its program was executed.
    pub from: Timestamp,
    /// When it last opened a file of code: a module, a library, an archive of classes, its script.
    pub loaded: Timestamp,
    /// Such files.
    pub files: u64,
}

impl Start {
    /// From its execve to the last of its code; unknown where none was seen.
    pub fn took(&self) -> Nanos {
        if self.files == 0 { Nanos::UNKNOWN } else { self.loaded.since(self.from) }
    }
}

/// All of them, by process. Bounded; those past the cap are not known.
#[derive(Debug, Default)]
pub struct Starts {
    /// By process.
    pub by_process: HashMap<ProcessId, Start, foldhash::fast::RandomState>,
}

/// Interpreters and virtual machines whose start is long beside a small piece of work (more than some milliseconds), by how their
/// programs' names begin, a version behind it.
const INTERPRETERS: &[(&str, &str)] = &[
    ("python", "python"),
    ("pypy", "python"),
    ("node", "node"),
    ("nodejs", "node"),
    ("deno", "deno"),
    ("bun", "bun"),
    ("ruby", "ruby"),
    ("jruby", "java"),
    ("java", "java"),
    ("perl", "perl"),
    ("php", "php"),
    ("Rscript", "R"),
    ("R", "R"),
    ("julia", "julia"),
    ("dotnet", "dotnet"),
    ("mono", "mono"),
    ("pwsh", "pwsh"),
    ("beam.smp", "erlang"),
    ("guile", "guile"),
    ("groovy", "java"),
    ("kotlin", "java"),
    ("scala", "java"),
];

/// Endings of scripts, with their interpreter: a script that names it in its first line is executed by its own name.
const SCRIPTS: &[(&str, &str)] = &[
    ("py", "python"),
    ("rb", "ruby"),
    ("pl", "perl"),
    ("php", "php"),
    ("js", "node"),
    ("mjs", "node"),
    ("R", "R"),
    ("jl", "julia"),
];

/// Endings of files of code.
const CODE: &[&str] = &[
    "py", "pyc", "so", "rb", "pm", "pl", "al", "js", "mjs", "cjs", "node", "jar", "jmod", "jsa", "class",
    "php", "phar", "ini", "zip", "egg", "whl", "R", "rdb", "rdx", "jl", "ji", "dll", "beam", "scm", "go",
    "pth", "cfg",
];

/// The interpreter that a program of that name, or a script with that ending, is run by.
pub fn interpreter(name: &str) -> Option<&'static str> {
    let is_version = |rest: &str| rest.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let known = INTERPRETERS.iter().find(|(known, _)| name.strip_prefix(known).is_some_and(is_version));
    let by_ending = || {
        let (_, ending) = name.rsplit_once('.')?;
        SCRIPTS.iter().find(|(known, _)| *known == ending)
    };
    known.or_else(by_ending).map(|(_, interpreter)| *interpreter)
}

/// True for a file of code: `os.pyc`, `libc.so.6`, `modules` of the JDK.
fn is_code(path: &str) -> bool {
    let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    CODE.contains(&ending) || name.contains(".so.") || name == "modules" || name == "ld.so.cache"
}

impl Starts {
    /// Processes told apart.
    const MAX: usize = 8_192;

    fn executed(&mut self, seen: &Seen<'_>, world: &World) {
        let Some(process) = world.threads.known_process(seen.process) else { return };
        let by = process.program().and_then(interpreter).or_else(|| process.name().and_then(interpreter));
        if self.by_process.len() >= Self::MAX && !self.by_process.contains_key(&seen.process) {
            return;
        }
        let start = Start { interpreter: by, from: seen.call.ts, loaded: seen.call.ts, files: 0 };
        let known = self.by_process.entry(seen.process).or_insert(start);
        // `env` or a shell that executes the interpreter is part of its start.
        *known = Start { from: known.from, ..start };
    }
}

impl Fold for Starts {
    fn wants(&self, syscall: Syscall) -> bool {
        matches!(
            syscall,
            Syscall::EXECVE | Syscall::EXECVEAT | Syscall::OPEN | Syscall::OPENAT | Syscall::OPENAT2
        )
    }

    #[inline]
    fn call(&mut self, seen: &Seen<'_>, world: &World) {
        if seen.call.ok().is_none() {
            return;
        }
        if matches!(seen.call.syscall, Syscall::EXECVE | Syscall::EXECVEAT) {
            return self.executed(seen, world);
        }
        let Some(start) = self.by_process.get_mut(&seen.process).filter(|start| start.interpreter.is_some())
        else {
            return;
        };
        if seen.file.is_some_and(|file| is_code(&world.files.get(file).path)) {
            start.files += 1;
            start.loaded = seen.call.end();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Facts;
    use whyslow_model::{Call, Event, Ret, Sink};

    #[test]
    fn interpreters_by_name() {
        for (name, known) in
            [("python3.11", "python"), ("node", "node"), ("to_article.py", "python"), ("php8.2", "php")]
        {
            assert_eq!(interpreter(name), Some(known), "{name}");
        }
        for name in ["bash", "python-config", "nodeenv", "Rust", "javac", "awk", "a.sh", ""] {
            assert_eq!(interpreter(name), None, "{name}");
        }
        assert!(
            is_code("/usr/lib/python3.11/os.pyc")
                && is_code("/lib/libc.so.6")
                && is_code("/usr/lib/jvm/lib/modules")
        );
        assert!(!is_code("/srv/orders.csv") && !is_code("/tmp/so"));
    }

    #[test]
    fn a_start_lasts_to_the_last_of_the_code() {
        let calls = [
            (0, "execve", r#""/usr/bin/env", ["env", "python3", "a.py"], 0x7"#, 0),
            (2, "execve", r#""/usr/bin/python3", ["python3", "a.py"], 0x7"#, 0),
            (5, "openat", r#"AT_FDCWD, "/lib/libc.so.6", O_RDONLY"#, 3),
            (30, "openat", r#"AT_FDCWD, "/usr/lib/python3.11/json/decoder.py", O_RDONLY"#, 3),
            (40, "openat", r#"AT_FDCWD, "/srv/orders.csv", O_RDONLY"#, 3),
        ];
        let mut facts = Facts::default();
        for (ms, name, args, ret) in calls {
            let ts = Timestamp::new(1_000_000_000 + ms * 1_000_000);
            let call = Call { tid: 9, ts, dur: Nanos::ZERO, ret: Ret::Value(ret), ..Call::new(name, args) };
            facts.push(Event::Call(&call));
        }
        facts.finish();
        let [start] = facts.starts.by_process.values().collect::<Vec<_>>()[..] else { panic!("one process") };
        assert_eq!((start.interpreter, start.files), (Some("python"), 2));
        assert_eq!(start.took(), Nanos::from_millis(30));
    }
}
