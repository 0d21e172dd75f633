//! Runs a script of a language, and reads the stacks of its threads.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use whyslow_unwind::runtimes::{Detected, LanguageRuntime, RUNTIMES};
use whyslow_unwind::{Frames, Process};

/// A script that runs.
pub(crate) struct Script {
    child: Child,
    _folder: tempfile::TempDir,
    pub(crate) process: Process,
    pub(crate) runtime: Box<dyn LanguageRuntime>,
    pub(crate) frames: Frames,
    text: String,
    name: String,
}

impl Drop for Script {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Script {
    /// Starts a script and waits until it says `ready`; `None` where the language is not installed. `FIFO` in its text is a FIFO
    /// that nobody writes to.
    pub(crate) fn start(kind: &str, command: &[&str], name: &str, text: &str) -> Option<Script> {
        let folder = tempfile::tempdir().expect("a folder");
        let fifo = folder.path().join("fifo");
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, mode, 0).expect("made");
        let text = text.replace("FIFO", fifo.to_str().expect("a path"));
        let path = folder.path().join(name);
        std::fs::write(&path, &text).expect("written");
        let started = Command::new(command[0])
            .args(&command[1..])
            .arg(&path)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn();
        let Ok(mut child) = started else {
            eprintln!("skipped: {} is not installed", command[0]);
            return None;
        };
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line).expect("read");
        assert_eq!(line.trim(), "ready");
        let process = Process::open(child.id()).expect("ours");
        let kind = RUNTIMES.iter().find(|it| it.name == kind).expect("listed");
        match (kind.detect)(&process) {
            Detected::Found(runtime) => {
                let (frames, name) = (Frames::default(), name.to_string());
                Some(Script { child, _folder: folder, process, runtime, frames, text, name })
            }
            Detected::Unknown(why) => {
                eprintln!("skipped: {why}");
                let _ = child.kill();
                let _ = child.wait();
                None
            }
            Detected::Absent => panic!("it was not found"),
        }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// `function:line`, innermost first, of a thread now; the line is left out where it is unknown.
    pub(crate) fn stack(&mut self, tid: u32) -> Vec<String> {
        let mut stack = Vec::new();
        let read = self.runtime.thread(&self.process, tid, &mut self.frames, &mut stack);
        let mut told: Vec<String> = stack
            .iter()
            .filter_map(|id| self.frames.get(*id))
            .map(|frame| match frame.line {
                0 => frame.function.to_string(),
                line => {
                    assert!(frame.file.ends_with(&self.name), "{frame:?}");
                    format!("{}:{line}", frame.function)
                }
            })
            .collect();
        told.extend(read.err().map(|error| error.to_string()));
        told
    }

    /// The same of a thread that waits, out of a copy of its list, and whether that is all.
    #[allow(dead_code, reason = "not each language keeps frames as a list")]
    pub(crate) fn copied(&mut self, tid: u32) -> (Vec<String>, bool) {
        let copied = crate::lists::listed(&mut *self.runtime, &self.process, tid);
        let (frames, whole) = copied.expect("a list");
        let told = frames.iter().map(|frame| match frame.line {
            0 => frame.function.to_string(),
            line => format!("{}:{line}", frame.function),
        });
        (told.collect(), whole)
    }

    /// The line of the script that has a mark.
    pub(crate) fn line(&self, mark: &str) -> usize {
        let at = self.text.lines().position(|line| line.contains(mark));
        at.unwrap_or_else(|| panic!("no line has {mark}")) + 1
    }

    /// Reads the stacks until one of a thread begins with these; a mark behind `@` stands for its line.
    pub(crate) fn until(&mut self, wanted: &[&str]) -> Vec<String> {
        let wanted: Vec<String> = wanted
            .iter()
            .map(|frame| match frame.rsplit_once('@') {
                Some((function, mark)) => format!("{function}:{}", self.line(mark)),
                None => (*frame).to_string(),
            })
            .collect();
        let began = Instant::now();
        loop {
            let threads = self.process.threads();
            let stacks: Vec<_> = threads.iter().map(|tid| self.stack(*tid)).collect();
            if let Some(found) = stacks.iter().find(|stack| stack.starts_with(&wanted)) {
                return found.clone();
            }
            assert!(began.elapsed() < Duration::from_secs(5), "{wanted:#?} is not among {stacks:#?}");
        }
    }

    /// Microseconds that a stack of a thread costs.
    pub(crate) fn cost(&mut self, tid: u32) -> u128 {
        let began = Instant::now();
        let mut stack = Vec::new();
        for _ in 0..200 {
            stack.clear();
            let _ = self.runtime.thread(&self.process, tid, &mut self.frames, &mut stack);
        }
        let each = began.elapsed().as_micros() / 200;
        eprintln!("{}: {each} us for {} frames", self.runtime.version(), stack.len());
        each
    }
}
