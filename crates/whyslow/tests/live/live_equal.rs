//! What our recorder says of a program with known calls, call by call, beside what strace and perf stat say of it and
//! what the program itself knows: counts, arguments, results and durations.

use crate::common::skipped;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;
use whyslow_model::{CallFlags, Event, Ret};
use whyslow_read::{Input, ReadOptions, read};

/// Stands before and after the calls that the program counts.
const MARK: &str = "getpgid(2147483633)";

/// One call as two tools must agree on it: without times, and without what is another in each run.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Line {
    name: String,
    args: String,
    result: String,
}

/// A program's calls from its exec on.
struct Trace {
    /// By thread, in the order in which the threads appear.
    threads: Vec<Vec<Line>>,
    /// Names in the order of completion, the marks among them.
    order: Vec<String>,
    /// How long each `clock_nanosleep` took, ns.
    sleeps: Vec<u64>,
}

impl Trace {
    fn counts(&self) -> BTreeMap<&str, u64> {
        tally(self.threads.iter().flatten().map(|line| line.name.as_str()))
    }

    fn counts_between_marks(&self) -> BTreeMap<&str, u64> {
        let mut parts = self.order.split(|name| name == MARK);
        tally(parts.nth(1).expect("two marks").iter().map(String::as_str))
    }
}

fn tally<'a>(names: impl Iterator<Item = &'a str>) -> BTreeMap<&'a str, u64> {
    let mut counts = BTreeMap::new();
    for name in names {
        *counts.entry(name).or_default() += 1;
    }
    counts
}

/// What the program says of itself.
struct Truth {
    counts: Vec<(String, u64)>,
    /// From just before to just after each sleep, ns.
    sleeps: Vec<u64>,
}

impl Truth {
    fn of(output: &Output) -> Truth {
        assert!(output.status.success(), "{output:?}");
        let mut truth = Truth { counts: Vec::new(), sleeps: Vec::new() };
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            match *line.split(' ').collect::<Vec<_>>() {
                ["count", name, n] => truth.counts.push((name.to_owned(), n.parse().expect("a count"))),
                ["sleep", from, to] => {
                    let (from, to): (u64, u64) = (from.parse().expect("ns"), to.parse().expect("ns"));
                    truth.sleeps.push(to - from);
                }
                _ => panic!("the program prints no such line: {line}"),
            }
        }
        assert_eq!((truth.counts.len(), truth.sleeps.len()), (23, 23));
        truth
    }
}

/// The program, built; or why it cannot be.
fn known_calls(folder: &TempDir) -> Result<PathBuf, String> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/known_calls.c");
    let program = folder.path().join("known_calls");
    let built = Command::new("cc").args(["-O1", "-pthread", "-o"]).arg(&program).arg(source).output();
    let built = built.map_err(|error| format!("no cc here: {error}"))?;
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    Ok(program)
}

/// Runs a tool on the program, in an environment that is the same for all.
fn run(tool: &[&str], program: &Path) -> Result<Output, String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut command = Command::new(tool[0]);
    command.args(&tool[1..]).arg(program).env_clear().env("PATH", path).stdin(Stdio::null());
    command.output().map_err(|error| format!("no {} here: {error}", tool[0]))
}

fn strace(folder: &TempDir, program: &Path, name: &str) -> Result<(Trace, Truth), String> {
    let file = folder.path().join(name);
    let output = run(&["strace", "-f", "-ttT", "-s", "64", "-o", &file.to_string_lossy()], program)?;
    if !output.status.success() {
        return Err(format!("strace may not trace here: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    Ok((traced(&file), Truth::of(&output)))
}

fn whyslow_trace(folder: &TempDir, program: &Path) -> Result<(Trace, Truth), String> {
    let whyslow = env!("CARGO_BIN_EXE_whyslow");
    let succeeds = |args: &[&str]| {
        let output = Command::new(whyslow).args(args).stdin(Stdio::null()).output().expect("the binary runs");
        (output.status.success(), String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    if !succeeds(&["trace", "--help"]).0 {
        return Err("this whyslow does not trace".to_owned());
    }
    let (able, told) = succeeds(&["doctor"]);
    if !able {
        return Err(format!("no live recording by BPF here: {told}"));
    }
    let file = folder.path().join("whyslow.st");
    let output =
        run(&[whyslow, "trace", "-f", "-ttT", "-s", "64", "-o", &file.to_string_lossy(), "--"], program)?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok((traced(&file), Truth::of(&output)))
}

/// Reads a trace from the exec of the program on.
fn traced(file: &Path) -> Trace {
    let mut tids: Vec<u32> = Vec::new();
    let mut trace = Trace { threads: Vec::new(), order: Vec::new(), sleeps: Vec::new() };
    // Of a call that began a process or thread the number is told by itself; the names come after all are known.
    let mut seen: Vec<(usize, String, String, Option<i64>, String)> = Vec::new();
    let mut started = false;
    let mut sink = |event: Event<'_>| {
        let Event::Call(call) = event else { return };
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        started |= call.name == b"execve" && call.ok() == Some(0);
        if !started {
            return;
        }
        assert!(!call.flags.contains(CallFlags::START_NOT_SEEN), "{call:?}");
        let thread = tids.iter().position(|tid| *tid == call.tid).unwrap_or_else(|| {
            tids.push(call.tid);
            tids.len() - 1
        });
        if call.name == b"clock_nanosleep" {
            trace.sleeps.push(call.dur.get().expect("a duration"));
        }
        let mark = format!("{}({})", text(call.name), text(call.args));
        trace.order.push(if mark == MARK { mark } else { text(call.name) });
        let value = if let Ret::Value(value) = call.ret { Some(value) } else { None };
        let errno = if call.errno.is_error() { call.errno.name() } else { "" };
        let note = format!("{errno} {}", text(call.ret_note));
        seen.push((thread, text(call.name), text(call.args), value, note));
    };
    read(&[Input::File(file.to_path_buf())], &ReadOptions::default(), &(), &mut sink).expect("a trace");
    trace.threads.resize_with(tids.len(), Vec::new);
    for (thread, name, args, value, note) in seen {
        let mut result = value.map_or("?".to_owned(), |value| comparable(&value.to_string(), &tids));
        let mut args = comparable(&args, &tids);
        match name.as_str() {
            "getrandom" => args = "at random".to_owned(),
            // The tool's number.
            "getppid" if !result.starts_with("THREAD") => result = "PARENT".to_owned(),
            // The reader takes the names of arguments away, but not from the second half of a line.
            "clone" => args = args.replace("child_tidptr=", ""),
            _ => {}
        }
        // Whether a thread that is joined has ended by then is chance.
        let has_ended = name == "futex" && args.contains("THREAD-") && note.starts_with("EAGAIN");
        let result = match has_ended {
            true => "0  ".to_owned(),
            false => format!("{result} {}", comparable(&note, &tids)),
        };
        trace.threads[thread].push(Line { name, args, result });
    }
    trace
}

/// Addresses and thread numbers are others in each run.
fn comparable(text: &str, tids: &[u32]) -> String {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut out = String::new();
    let mut rest = text;
    // What a file holds may have a thread's number by chance.
    let mut is_quoted = false;
    while let Some(first) = rest.chars().next() {
        let length = rest.find(|c| is_word(c) != is_word(first)).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(length);
        rest = behind;
        is_quoted ^= word.replace("\\\"", "").matches('"').count() % 2 == 1;
        let is_thread = !is_quoted || out.ends_with('/');
        let number = word.strip_prefix("0x").map(|hex| u64::from_str_radix(hex, 16)).unwrap_or(word.parse());
        match number {
            Ok(n) if n > 0xffff_ffff => out.push_str("ADDRESS"),
            Ok(n) => match tids.iter().position(|tid| u64::from(*tid) == n).filter(|_| is_thread) {
                Some(thread) => out.push_str(&format!("THREAD-{thread}")),
                None => out.push_str(word),
            },
            Err(_) => out.push_str(word),
        }
    }
    out
}

/// Each thread's calls one by one. Tells the first differences of each kind, and how many there are.
fn assert_same_calls(ours: &Trace, theirs: &Trace) {
    let mut wrong = Vec::new();
    assert_eq!(ours.threads.len(), theirs.threads.len(), "threads");
    for (thread, (ours, theirs)) in ours.threads.iter().zip(&theirs.threads).enumerate() {
        for (at, (our, their)) in ours.iter().zip(theirs).enumerate() {
            if our != their {
                wrong.push(format!("thread {thread}, call {at}:\n   {our:?}\n   {their:?}"));
            }
            if our.name != their.name {
                break;
            }
        }
        if ours.len() != theirs.len() {
            wrong.push(format!("thread {thread}: {} calls here, {} there", ours.len(), theirs.len()));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} differences, the first:\n{}",
        wrong.len(),
        wrong[..wrong.len().min(20)].join("\n")
    );
}

fn assert_counts_as_known(trace: &Trace, truth: &Truth) {
    let counts = trace.counts_between_marks();
    for (name, times) in &truth.counts {
        assert_eq!(counts.get(name.as_str()), Some(times), "{name}");
    }
}

/// A sleep lasts no less than asked for, and no more than what the program measured around it.
fn assert_sleeps_as_measured(trace: &Trace, truth: &Truth) {
    assert_eq!(trace.sleeps.len(), truth.sleeps.len());
    let mut close = 0;
    for (told, around) in trace.sleeps.iter().zip(&truth.sleeps) {
        assert!(*told >= 2_000_000 && told <= around, "{told} ns told, {around} ns measured around it");
        close += u64::from(around - told <= 5_000.max(around / 20));
    }
    // Of the others the CPU was taken between the program's clock and the call.
    assert!(
        close * 2 > truth.sleeps.len() as u64,
        "only {close} sleeps within 5 us or 5 % of the measured time"
    );
}

/// strace against the program and against itself: what the comparison is worth.
#[test]
fn strace_agrees_with_the_program_and_with_itself() {
    let folder = TempDir::new().expect("a folder");
    let compared = known_calls(&folder).and_then(|program| {
        Ok((strace(&folder, &program, "first.st")?, strace(&folder, &program, "second.st")?))
    });
    match compared {
        Err(reason) => skipped(format_args!("strace against itself: {reason}")),
        Ok(((first, truth), (second, _))) => {
            assert_counts_as_known(&first, &truth);
            assert_same_calls(&first, &second);
            assert!(first.threads.iter().flatten().count() > 4_000);
        }
    }
}

/// Our trace against strace's, event by event, and against what the program knows.
#[test]
fn trace_equals_strace() {
    let folder = TempDir::new().expect("a folder");
    let compared = known_calls(&folder)
        .and_then(|program| Ok((whyslow_trace(&folder, &program)?, strace(&folder, &program, "strace.st")?)));
    match compared {
        Err(reason) => skipped(format_args!("our trace against strace: {reason}")),
        Ok(((ours, truth), (theirs, _))) => {
            assert_counts_as_known(&ours, &truth);
            assert_sleeps_as_measured(&ours, &truth);
            assert_same_calls(&ours, &theirs);
        }
    }
}

/// perf stat's counters against strace's counts, and where we can trace, ours.
#[test]
fn counts_equal_perf_stat() {
    let folder = TempDir::new().expect("a folder");
    let compared = known_calls(&folder).and_then(|program| {
        let (theirs, truth) = strace(&folder, &program, "strace.st")?;
        Ok((perf_stat(&folder, &program, &truth)?, theirs, whyslow_trace(&folder, &program)))
    });
    match compared {
        Err(reason) => skipped(format_args!("counts against perf stat: {reason}")),
        Ok((counters, theirs, ours)) => {
            let theirs = theirs.counts();
            for (name, counted) in &counters {
                assert_eq!(theirs.get(name.as_str()), Some(counted), "strace: {name}");
            }
            match &ours {
                Err(reason) => println!("note: our trace was not held against perf stat: {reason}"),
                Ok((ours, _)) => {
                    let ours = ours.counts();
                    for (name, counted) in &counters {
                        assert_eq!(ours.get(name.as_str()), Some(counted), "whyslow trace: {name}");
                    }
                }
            }
            assert_eq!(counters.len(), 23);
        }
    }
}

/// Entries of each of the known system calls, as the kernel's own counters tell them.
fn perf_stat(folder: &TempDir, program: &Path, truth: &Truth) -> Result<Vec<(String, u64)>, String> {
    let file = folder.path().join("perf.csv");
    // The tracepoints are named after the kernel's functions.
    let event = |name: &str| match name {
        "uname" => "syscalls:sys_enter_newuname".to_owned(),
        name => format!("syscalls:sys_enter_{name}"),
    };
    let events: Vec<String> = truth.counts.iter().map(|(name, _)| event(name)).collect();
    let output = run(
        &["perf", "stat", "-x", ",", "-o", &file.to_string_lossy(), "-e", &events.join(","), "--"],
        program,
    )?;
    if !output.status.success() {
        return Err(format!("perf may not count here: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    let text = std::fs::read_to_string(&file).map_err(|error| format!("perf wrote nothing: {error}"))?;
    let count_of = |event: &str| {
        let line = text.lines().find(|line| line.contains(&format!(",{event},")))?;
        line.split(',').next()?.parse().ok()
    };
    let found = truth.counts.iter().map(|(name, _)| {
        let counted = count_of(&event(name)).ok_or_else(|| format!("perf did not count {name}:\n{text}"))?;
        Ok((name.clone(), counted))
    });
    found.collect()
}
