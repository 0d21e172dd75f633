//! Stacks of CPython: programs under all versions that are found, against what they know of themselves.

mod lists;

use lists::listed;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};
use whyslow_unwind::runtimes::{Detected, LanguageRuntime, RUNTIMES};
use whyslow_unwind::{Frames, Image, LanguageFrame, MemoryMapping, Process};

const WAITS: &str = include_str!("python/waits.py");
const COMPUTES: &str = include_str!("python/computes.py");
const REMAKES: &str = include_str!("python/remakes.py");
const AWAITS: &str = include_str!("python/awaits.py");

/// A program of Python, killed at the end.
struct Program {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    _folder: tempfile::TempDir,
}

impl Program {
    /// Starts it and waits for a line that begins with `ready`; that line and those before it are returned too.
    fn start(python: &[&str], text: &str, arguments: &[&str], ready: &str) -> (Program, Vec<String>) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("größe_数.py");
        std::fs::write(&path, text).expect("written");
        let mut child = Command::new(python[0])
            .args(&python[1..])
            .arg(&path)
            .args(arguments)
            .env("PYTHONIOENCODING", "utf-8")
            .env("PYTHONUTF8", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("started");
        let input = child.stdin.take().expect("piped");
        let output = BufReader::new(child.stdout.take().expect("piped"));
        let mut program = Program { child, input, output, _folder: folder };
        let lines = program.lines_to(ready);
        (program, lines)
    }

    fn lines_to(&mut self, last: &str) -> Vec<String> {
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            let read = self.output.read_line(&mut line).expect("read");
            assert!(read > 0, "the program ended: {lines:?}");
            lines.push(line.trim_end().to_string());
            if line.starts_with(last) {
                return lines;
            }
        }
    }

    /// The stacks as the program knows them, by the number of the thread.
    fn told(&mut self) -> BTreeMap<u32, Vec<LanguageFrame>> {
        writeln!(self.input).expect("asked");
        let mut told: BTreeMap<u32, Vec<LanguageFrame>> = BTreeMap::new();
        let mut stack = &mut Vec::new();
        for line in self.lines_to("told") {
            let words: Vec<&str> = line.split('\t').collect();
            if let Some(number) = line.strip_prefix("thread ") {
                stack = told.entry(number.parse().expect("a number")).or_default();
            } else if let [_, function, file, line] = words[..] {
                let line = line.parse().expect("a line");
                stack.push(LanguageFrame {
                    function: function.into(),
                    file: file.into(),
                    language: "",
                    line,
                });
            }
        }
        told
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The interpreters of this machine that can be read, each once: of the path, and those of pyenv.
fn pythons() -> Vec<(String, PathBuf)> {
    let mut folders: Vec<PathBuf> =
        std::env::var_os("PATH").map(|path| std::env::split_paths(&path).collect()).unwrap_or_default();
    let pyenv = std::env::var_os("PYENV_ROOT")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| Path::new(&home).join(".pyenv")));
    if let Some(Ok(versions)) = pyenv.map(|root| std::fs::read_dir(root.join("versions"))) {
        folders.extend(versions.flatten().map(|version| version.path().join("bin")));
    }
    let (mut found, mut seen) = (Vec::new(), BTreeSet::new());
    for folder in folders.iter().filter(|folder| !folder.ends_with("shims")) {
        for minor in 8..=14 {
            let Ok(path) = folder.join(format!("python3.{minor}")).canonicalize() else { continue };
            if seen.insert(path.clone()) {
                found.push((format!("CPython 3.{minor}"), path));
            }
        }
    }
    for minor in 8..=14 {
        let name = format!("CPython 3.{minor}");
        if !found.iter().any(|(found, _)| *found == name) {
            println!("skipped: {name} is not on this machine");
        }
    }
    found
}

fn detect(process: &Process) -> Box<dyn LanguageRuntime> {
    let kind = RUNTIMES.iter().find(|kind| kind.name == "CPython").expect("listed");
    match (kind.detect)(process) {
        Detected::Found(runtime) => runtime,
        Detected::Absent => panic!("not found"),
        Detected::Unknown(why) => panic!("{why}"),
    }
}

fn stack(runtime: &mut dyn LanguageRuntime, process: &Process, tid: u32) -> Vec<LanguageFrame> {
    let (mut frames, mut stack) = (Frames::default(), Vec::new());
    let ended = runtime.thread(process, tid, &mut frames, &mut stack);
    let stack: Vec<LanguageFrame> = stack.iter().filter_map(|id| frames.get(*id).cloned()).collect();
    assert_eq!(ended, Ok(()), "{stack:?}");
    stack
}

/// Asks until it is as wanted: a thread that is about to wait may not do so yet.
fn until<T>(ask: &mut dyn FnMut() -> Result<T, String>) -> T {
    let end = Instant::now() + Duration::from_secs(5);
    loop {
        match ask() {
            Ok(found) => return found,
            Err(why) => assert!(Instant::now() < end, "{why}"),
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Checks all threads of a program that waits; `outside` gives the number here of a thread's own number.
fn check_waits(name: &str, program: &mut Program, pid: u32, outside: &dyn Fn(u32) -> u32) {
    let process = Process::open(pid).expect("opened");
    let mut runtime = detect(&process);
    assert!(runtime.version().starts_with(name), "{} is {name}", runtime.version());
    let mut all = String::new();
    // Twice, so that what is kept is used.
    for _ in 0..2 {
        let told = until(&mut || {
            let told = program.told();
            for (tid, told) in &told {
                let read = stack(&mut *runtime, &process, outside(*tid));
                if read != told[..told.len().min(256)] {
                    return Err(format!("{name}: of {told:?} was read {read:?}"));
                }
                // A list may have frames of no function.
                let (copied, whole) = listed(&mut *runtime, &process, outside(*tid)).expect("a list");
                let is_all = !whole || copied.len() == told.len();
                if !is_all || copied.is_empty() || copied != told[..copied.len()] {
                    return Err(format!("{name}: of {told:?} was copied {copied:?}"));
                }
            }
            Ok(told)
        });
        assert!(told.len() >= 14 && told.values().any(|stack| stack.len() > 400), "{told:?}");
        for frame in told.values().flatten() {
            all += &format!("{} {}\n", frame.function, frame.file);
        }
    }
    for expected in ["ändern", "数える", "𠮷_warten", "größe_数.py", "made <made>", "inner "] {
        assert!(all.contains(expected), "{name}: {expected}");
    }
}

#[test]
fn threads_that_wait() {
    for (name, python) in pythons() {
        let (mut program, _) = Program::start(&[&python.to_string_lossy()], WAITS, &[], "waiting");
        let pid = program.child.id();
        check_waits(&name, &mut program, pid, &|tid| tid);
    }
}

#[test]
fn a_child_of_fork_has_its_own_number() {
    for (name, python) in pythons() {
        let (_program, lines) = Program::start(&[&python.to_string_lossy()], WAITS, &["fork"], "waiting");
        let child = lines.iter().find_map(|line| line.strip_prefix("child ")?.parse().ok()).expect("told");
        let process = Process::open(child).expect("opened");
        let line = line_of(WAITS, "            os.read(reader, 1)");
        until(&mut || {
            let read = stack(&mut *detect(&process), &process, child);
            let [frame] = &read[..] else { return Err(format!("{name}: {read:?}")) };
            match (&*frame.function, frame.line) == ("<module>", line) {
                true => Ok(()),
                false => Err(format!("{name}: {read:?}")),
            }
        });
    }
}

#[test]
fn threads_of_another_pid_namespace() {
    let Some((name, python)) = pythons().pop() else { return };
    let possible = Command::new("unshare").args(["--pid", "--fork", "true"]).output();
    if !possible.is_ok_and(|output| output.status.success()) {
        println!("skipped: no PID namespace can be made here");
        return;
    }
    let python = python.to_string_lossy();
    let command = ["unshare", "--pid", "--fork", "--kill-child", &python];
    let (mut program, _) = Program::start(&command, WAITS, &[], "waiting");
    let parent = program.child.id();
    let children = std::fs::read_to_string(format!("/proc/{parent}/task/{parent}/children")).expect("read");
    let pid: u32 = children.trim().parse().expect("a number");
    let own = |tid: u32| -> Option<u32> {
        let status = std::fs::read_to_string(format!("/proc/{pid}/task/{tid}/status")).ok()?;
        let numbers = status.lines().find_map(|line| line.strip_prefix("NSpid:"))?;
        numbers.split_whitespace().last()?.parse().ok()
    };
    let threads = Process::open(pid).expect("opened").threads();
    check_waits(&name, &mut program, pid, &|tid| {
        *threads.iter().find(|outside| own(**outside) == Some(tid)).expect("a thread")
    });
}

/// The number of the line that is this text.
fn line_of(text: &str, line: &str) -> u32 {
    text.lines().position(|one| one == line).expect("a line of it") as u32 + 1
}

#[test]
fn threads_that_compute() {
    const SAMPLES: usize = 500;
    let line = |text: &str| line_of(COMPUTES, text);
    let adds = [line("def adds(one, other):"), line("    return one + other")];
    let computes: Vec<u32> = (line("    total = 0")..=line("        total = adds(total, -1)")).collect();
    let first = line("def descends(depth):");
    let descends = [first, first + 1, first + 2, first + 3];
    let deep = [line("        descends(12)"), line("        descends(12)") - 1];
    for (name, python) in pythons() {
        let (program, _) = Program::start(&[&python.to_string_lossy()], COMPUTES, &[], "computing");
        let process = Process::open(program.child.id()).expect("opened");
        let mut runtime = detect(&process);
        let (mut whole, mut seen) = (0, BTreeSet::new());
        let (mut frames, mut stack) = (Frames::default(), Vec::new());
        for tid in process.threads().into_iter().filter(|tid| *tid != process.pid()) {
            for _ in 0..SAMPLES {
                // On a full machine it may have no CPU for some milliseconds: then all samples in a row are one.
                std::thread::sleep(std::time::Duration::from_micros(500));
                stack.clear();
                let ended = runtime.thread(&process, tid, &mut frames, &mut stack);
                let outermost = stack.last().and_then(|id| frames.get(*id));
                let is_whole = outermost.is_some_and(|frame| frame.function.ends_with("_bootstrap"));
                whole += usize::from(ended.is_ok() && is_whole);
                let names: Vec<&str> =
                    stack.iter().filter_map(|id| Some(&*frames.get(*id)?.function)).collect();
                for pair in names.windows(2) {
                    let callers: &[&str] = match pair[0] {
                        "adds" => &["computes"],
                        "descends" => &["descends", "computes_deep"],
                        _ => continue,
                    };
                    assert!(callers.contains(&pair[1]), "{name}: {names:?}");
                }
                // What is read is right, even where it ends too early.
                for frame in stack.iter().filter_map(|id| frames.get(*id)) {
                    if !frame.file.ends_with("größe_数.py") {
                        assert!(frame.file.ends_with("/threading.py"), "{name}: {frame:?}");
                        continue;
                    }
                    let lines = match &*frame.function {
                        "adds" => &adds[..],
                        "computes" => &computes,
                        "descends" => &descends,
                        "computes_deep" => &deep,
                        _ => panic!("{name}: {frame:?}"),
                    };
                    assert!(lines.contains(&frame.line), "{name}: {frame:?}");
                    seen.insert((frame.function.clone(), frame.line));
                }
            }
        }
        println!("{name}: {whole} of {} samples are whole", 2 * SAMPLES);
        assert!(whole * 100 >= 2 * SAMPLES * 95, "{name}: {whole}");
        let calls = [("computes", computes[3]), ("descends", first + 2), ("computes_deep", deep[0])];
        for (function, line) in calls {
            assert!(seen.contains(&(function.into(), line)), "{name}: {function} {line}: {seen:?}");
        }
    }
}

#[test]
fn the_evaluator_is_known() {
    for (name, python) in pythons() {
        let (program, _) = Program::start(&[&python.to_string_lossy()], COMPUTES, &[], "computing");
        let process = Process::open(program.child.id()).expect("opened");
        let runtime = detect(&process);
        let mut files: Vec<&MemoryMapping> = Vec::new();
        for mapping in process.mappings().iter().filter(|mapping| mapping.name().contains("python")) {
            if !files.iter().any(|file| file.file == mapping.file) {
                files.push(mapping);
            }
        }
        let symbol = ["_PyEval_EvalFrameDefault"];
        let address = files.iter().find_map(|file| {
            let found = Image::open(&process, file).and_then(|image| image.symbols(&symbol));
            found.ok()?.into_iter().next()?
        });
        let address = address.unwrap_or_else(|| panic!("{name}: no evaluator"));
        assert!(runtime.evaluates(address) && runtime.evaluates(address + 0x1000), "{name}");
        assert!(!runtime.evaluates(address + 0x4_0000) && !runtime.evaluates(0), "{name}");
    }
}

#[test]
fn functions_made_anew_have_their_own_lines() {
    for (name, python) in pythons() {
        let (mut program, mut lines) =
            Program::start(&[&python.to_string_lossy()], REMAKES, &["<made>"], "waits");
        let pid = program.child.id();
        let process = Process::open(pid).expect("opened");
        let mut runtime = detect(&process);
        for _ in 0..60 {
            let told: u32 = lines[0].trim_start_matches("waits at ").parse().expect("a line");
            until(&mut || {
                let read = stack(&mut *runtime, &process, pid);
                let expected = LanguageFrame {
                    function: "made".into(),
                    file: "<made>".into(),
                    language: "",
                    line: told + 1,
                };
                // It may not have come from its print to its wait yet, nor have left the one before.
                if read.first() == Some(&expected) {
                    Ok(())
                } else {
                    Err(format!("{name}: {expected:?}: {read:?}"))
                }
            });
            writeln!(program.input).expect("asked");
            lines = program.lines_to("waits");
        }
    }
}

/// In 3.11 to 3.13; of other versions the stack is the loop's alone.
#[test]
fn an_event_loop_that_waits_tells_where_most_tasks_await() {
    for (name, python) in pythons() {
        let (program, _) = Program::start(&[python.to_str().expect("a path")], AWAITS, &[], "ready");
        let pid = program.child.id();
        let process = Process::open(pid).expect("opened");
        let mut runtime = detect(&process);
        let line = |mark: &str| {
            let found = AWAITS.lines().position(|line| line.ends_with(&format!("# {mark}")));
            found.expect("the mark is there") as u32 + 1
        };
        let wanted = [
            ("(3 tasks await)".to_string(), 0),
            ("PaymentsClient.fetch".to_string(), line("fetch")),
            ("handle".to_string(), line("handle")),
        ];
        let read = |runtime: &mut dyn LanguageRuntime, blocked: Option<u32>| {
            runtime.begins(&process, blocked);
            let stack = stack(runtime, &process, pid);
            stack.iter().map(|frame| (frame.function.to_string(), frame.line)).collect::<Vec<_>>()
        };
        let known = ["3.11", "3.12", "3.13"].iter().any(|version| name.ends_with(version));
        until(&mut || {
            let told = read(&mut *runtime, Some(pid));
            // `sock_recv` is a coroutine of the loop's, inside of which the future is.
            let own: Vec<_> =
                told.iter().filter(|(function, _)| !function.contains("sock_recv")).cloned().collect();
            let is_loop = told.iter().any(|(function, _)| function.ends_with("_run_once"));
            match known {
                true if own.starts_with(&wanted) && is_loop => Ok(()),
                false if is_loop && !told[0].0.starts_with('(') => Ok(()),
                _ => Err(format!("{name}: {told:?}")),
            }
        });
        // A sample of a thread that ran has its own stack.
        let told = read(&mut *runtime, None);
        assert!(!told[0].0.starts_with('('), "{name}: {told:?}");
    }
}
