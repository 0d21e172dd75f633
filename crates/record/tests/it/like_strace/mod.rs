//! The text of recorded calls beside strace's own: the same program runs under strace and under our recorder, and the
//! lines are compared. What differs from run to run (addresses, process numbers, times) is made equal first, and so is
//! the data of files, which we do not keep.

use crate::common::skipped;
use regex::bytes::Regex;
use std::collections::{BTreeSet, HashMap};
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;
use whyslow_model::line::LineThread;
use whyslow_model::{CallFlags, LineFormat, SourceId, Timestamp};
use whyslow_record::Clock;
use whyslow_record::decode::{self, CallText, NoNames, PrintOptions, table};
use whyslow_record::ptrace::{PtraceOptions, RawEvent, Recorder};

/// Lines of strace: a file a process, so that none is in two halves. `None` where strace cannot run.
fn by_strace(command: &[String], dir: &Path) -> Option<Vec<Vec<u8>>> {
    let out = dir.join("strace");
    let status = Command::new("strace")
        .args(["-ff", "-o"])
        .arg(&out)
        .args(command)
        .current_dir(dir)
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .status()
        .ok()?;
    status.code()?;
    let mut lines = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap().flatten() {
        if entry.file_name().to_string_lossy().starts_with("strace.") {
            let text = std::fs::read(entry.path()).unwrap();
            let calls = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
            lines.extend(
                calls
                    .filter(|line| !line.starts_with(b"+++") && !line.starts_with(b"---"))
                    .map(<[u8]>::to_vec),
            );
            std::fs::remove_file(entry.path()).unwrap();
        }
    }
    (!lines.is_empty()).then_some(lines)
}

/// The same by us. `None` where ptrace is not allowed.
fn by_us(command: &[String], dir: &Path) -> Option<Vec<Vec<u8>>> {
    let options = PtraceOptions {
        follow: true,
        syscalls: None,
        filter_in_kernel: false,
        payload: 256,
        spec: table::spec,
    };
    // The folder of this process is that of all tests.
    let quiet = "cd \"$0\" && exec \"$@\" >/dev/null 2>&1";
    let arguments: Vec<OsString> = [OsString::from("-c"), quiet.into(), dir.into()]
        .into_iter()
        .chain(command.iter().map(Into::into))
        .collect();
    let mut recorder = Recorder::spawn("/bin/sh".as_ref(), &arguments, options).ok()?;
    let mut lines = Vec::new();
    let mut text = CallText::default();
    let print = PrintOptions::default();
    let mut execs = 0;
    recorder
        .run(&mut || false, &mut |event| {
            let RawEvent::Call(call) = event else { return };
            decode::print(&call, &NoNames, &print, &mut text);
            // The shell that sends the output away, up to where it becomes the program.
            execs += u32::from(text.name() == b"execve" && call.ret == 0);
            if execs < 2 {
                return;
            }
            let mut event = text.to_call(&call, Clock { offset: 0 }, SourceId(0), 1);
            // strace -ff shows calls that do not return whole.
            (event.ts, event.flags) = (Timestamp::UNKNOWN, CallFlags::default());
            let format = LineFormat { who: LineThread::Nobody, durations: false, ..LineFormat::EVIDENCE };
            let mut line = Vec::new();
            event.write_line(&format, &mut line);
            lines.push(line);
        })
        .ok()?;
    Some(lines)
}

/// What is not the same in two runs, made the same.
struct Normal {
    rules: Vec<(Regex, &'static [u8])>,
}

impl Normal {
    fn new() -> Normal {
        let rule = |pattern: &str, by: &'static str| (Regex::new(pattern).unwrap(), by.as_bytes());
        Normal {
            rules: vec![
                rule(r"\)\s+= ", ") = "),
                rule(r"0x[0-9a-f]{5,}", "ADDRESS"),
                rule(
                    r"(tv_[un]?sec|st_size|tms_[a-z]+|uptime|freeram|sharedram|bufferram|procs|f_bfree|f_bavail|f_ffree)=-?\d+",
                    "$1=N",
                ),
                rule(r"tms_([a-z]+)=N /\* [0-9.]+ s \*/", "tms_$1=N"),
                rule(r"loads=\[[^]]*\]", "loads=[]"),
                // Data of files is not kept; getrandom's never.
                rule(r#"^((?:read|pread64|getrandom)\(.*?)"(?:[^"\\]|\\.)*"(?:\.\.\.)?"#, "${1}DATA"),
                rule(
                    r"^(getpid|getppid|gettid|set_tid_address|clone|clone3|fork|vfork|wait4|kill|tgkill)\((.*)\) = \d+",
                    "$1($2) = PID",
                ),
                rule(r"(parent_tid=\[)\d+", "${1}PID"),
                rule(r"^(kill|tgkill|wait4|prlimit64)\((\d{3,}|\d{3,}, \d{3,}),", "$1(PID,"),
                rule(r"^(shm|sem)([a-z]+)\((.*)\) = \d+", "$1$2($3) = ID"),
                rule(r"^(shm|sem)(at|dt|ctl|op|timedop)\(\d+", "$1$2(ID"),
                rule(r"/tmp/cc[A-Za-z0-9]{6}", "/tmp/ccXXXXXX"),
                rule(r"/\* \d+ vars \*/", "/* N vars */"),
                rule(r"(time\(NULL\)) = .*", "$1"),
            ],
        }
    }

    fn line(&self, line: &[u8]) -> Vec<u8> {
        let mut line = line.to_vec();
        for (pattern, by) in &self.rules {
            line = pattern.replace_all(&line, *by).into_owned();
        }
        line
    }
}

/// How many of strace's lines we print too, how many there are, and examples of the others on both sides.
fn compare(strace: &[Vec<u8>], ours: &[Vec<u8>]) -> (usize, Vec<String>) {
    let normal = Normal::new();
    let mut counts: HashMap<Vec<u8>, i64> = HashMap::new();
    for line in ours {
        *counts.entry(normal.line(line)).or_default() += 1;
    }
    let mut equal = 0;
    let mut differing = BTreeSet::new();
    for line in strace {
        let line = normal.line(line);
        match counts.get_mut(&line) {
            Some(left) if *left > 0 => {
                *left -= 1;
                equal += 1;
            }
            _ => {
                differing.insert(format!("{} < strace", String::from_utf8_lossy(&line)));
            }
        }
    }
    for (line, _) in counts.iter().filter(|(_, left)| **left > 0) {
        differing.insert(format!("{} > ours", String::from_utf8_lossy(line)));
    }
    (equal, differing.into_iter().collect())
}

fn check(what: &str, command: &[&str], least: f64) {
    let dir = tempfile::tempdir().unwrap();
    let command: Vec<String> = command.iter().map(|word| word.to_string()).collect();
    let (Some(strace), Some(ours)) = (by_strace(&command, dir.path()), by_us(&command, dir.path())) else {
        skipped(format_args!("{what}: no strace, or no right to trace"));
        return;
    };
    let (equal, differing) = compare(&strace, &ours);
    let share = equal as f64 / strace.len() as f64;
    println!("{what}: {equal} of {} lines equal ({:.1} %), ours {}", strace.len(), share * 100.0, ours.len());
    for line in differing.iter().take(if share < least { 200 } else { 40 }) {
        println!("    {line}");
    }
    assert!(share >= least, "{what}: {:.1} % of the lines are equal", share * 100.0);
}

/// One test, for the recorder takes the news of all children of its thread.
#[test]
fn lines_equal_straces() {
    let version = Command::new("strace").arg("-V").output();
    match version {
        Ok(output) if output.stdout.windows(11).any(|text| text == b"version 6.1") => {}
        Ok(_) => return skipped("another version of strace than 6.1 prints otherwise"),
        Err(_) => return skipped("no strace"),
    }
    let dir = tempfile::tempdir().unwrap();
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/like_strace/calls.c");
    let program = dir.path().join("calls");
    let built =
        Command::new("cc").args(["-O1", "-w", "-o"]).arg(&program).args([source, "-lpthread"]).status();
    if built.is_ok_and(|status| status.success()) {
        check("calls.c", &[program.to_str().unwrap()], 0.95);
        check("cc", &["cc", "-O1", "-w", "-c", "-o", "/dev/null", source], 0.95);
    } else {
        println!("note: no C compiler, so neither calls.c nor cc was traced");
    }
    check("ls", &["ls", "-l", "/usr/bin"], 0.95);
    check("cat", &["cat", "/etc/passwd", "/nonexistent"], 0.95);
    if Path::new("/usr/bin/python3").exists() {
        check("python3", &["/usr/bin/python3", "-c", "import json, socket; print(json.dumps([1]))"], 0.95);
    }
}
