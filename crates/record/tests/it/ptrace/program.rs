//! The traced program, and recordings of it as lists.

use crate::common::skipped;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};
use whyslow_record::decode::table;
use whyslow_record::ptrace::{
    PtraceError, PtraceOptions, RawEvent, RawSignal, Recorder, Summary, ThreadEnd, TraceOrigin,
};
use whyslow_record::raw::{RawFlags, pieces};

/// No test waits longer.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// The traced program, compiled once for all tests, which may be processes of their own; `None`, and said so, where there is no C
/// compiler.
pub(crate) fn tracee() -> Option<&'static Path> {
    static PROGRAM: OnceLock<Option<PathBuf>> = OnceLock::new();
    PROGRAM.get_or_init(compiled).as_deref()
}

fn compiled() -> Option<PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/ptrace/tracee.c");
    let mut hasher = DefaultHasher::new();
    std::fs::read(&source).unwrap().hash(&mut hasher);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let program = folder.join(format!("tracee-{:016x}", hasher.finish()));
    let lock = File::create(folder.join("tracee.lock")).unwrap();
    lock.lock().unwrap();
    if program.exists() {
        return Some(program);
    }
    let made = folder.join("tracee.new");
    match Command::new("cc").args(["-O1", "-w", "-pthread", "-o"]).arg(&made).arg(&source).status() {
        Ok(status) => assert!(status.success(), "tracee.c does not compile"),
        Err(error) => {
            skipped(format_args!("no C compiler: {error}"));
            return None;
        }
    }
    std::fs::rename(&made, &program).unwrap();
    Some(program)
}

/// A call, kept.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) pid: u32,
    pub(crate) tid: u32,
    pub(crate) nr: i64,
    pub(crate) ret: i64,
    pub(crate) enter: Option<u64>,
    pub(crate) dur: Option<u64>,
    pub(crate) flags: RawFlags,
    /// Argument, part, bytes, cut, fault.
    pub(crate) pieces: Vec<(u8, u8, Vec<u8>, bool, bool)>,
}

/// All that a recording handed out.
#[derive(Default, Debug)]
pub(crate) struct Recorded {
    pub(crate) calls: Vec<Call>,
    pub(crate) signals: Vec<RawSignal>,
    /// Process, thread, parent, origin.
    pub(crate) started: Vec<(u32, u32, Option<u32>, TraceOrigin)>,
    /// Process, former tid.
    pub(crate) execs: Vec<(u32, u32)>,
    /// Process, thread, how.
    pub(crate) ended: Vec<(u32, u32, ThreadEnd)>,
}

impl Recorded {
    pub(crate) fn push(&mut self, event: RawEvent<'_>) {
        match event {
            RawEvent::Call(call) => self.calls.push(Call {
                pid: call.pid,
                tid: call.tid,
                nr: call.nr.into(),
                ret: call.ret,
                enter: call.enter,
                dur: call.dur,
                flags: call.flags,
                pieces: pieces(call.memory)
                    .map(|piece| (piece.arg, piece.part, piece.bytes.to_vec(), piece.cut, piece.fault))
                    .collect(),
            }),
            RawEvent::Signal(signal) => self.signals.push(signal),
            RawEvent::Started { pid, tid, parent, origin, .. } => {
                self.started.push((pid, tid, parent, origin));
            }
            RawEvent::Exec { pid, former_tid, .. } => self.execs.push((pid, former_tid)),
            RawEvent::Ended { pid, tid, how, .. } => self.ended.push((pid, tid, how)),
        }
    }

    pub(crate) fn of(&self, nr: i64) -> impl Iterator<Item = &Call> {
        self.calls.iter().filter(move |call| call.nr == nr)
    }

    /// The calls of getppid, which the program makes a known number of.
    pub(crate) fn probes(&self) -> usize {
        self.of(libc::SYS_getppid).count()
    }
}

/// All calls, everyone, 64 bytes of payload.
pub(crate) fn options() -> PtraceOptions {
    PtraceOptions { follow: true, syscalls: None, filter_in_kernel: false, payload: 64, spec: table::spec }
}

/// Runs the program under the recorder, to its end.
pub(crate) fn record(args: &[&str], options: PtraceOptions) -> Option<(Recorded, Summary)> {
    let program = tracee()?;
    let args: Vec<OsString> = args.iter().map(OsString::from).collect();
    let limit = Instant::now() + PATIENCE;
    let mut recorder = Recorder::spawn(OsStr::new(program), &args, options).unwrap();
    let mut recorded = Recorded::default();
    let summary = recorder.run(&mut || Instant::now() > limit, &mut |event| recorded.push(event)).unwrap();
    assert_eq!(summary.lost, 0);
    assert_eq!(summary.calls as usize, recorded.calls.len());
    Some((recorded, summary))
}

/// The program, running by itself, below a parent that is not this process: what waits for a process of its own takes
/// the recorder's news of it.
pub(crate) struct Running {
    parent: Child,
    pid: u32,
}

impl Running {
    /// Starts it and waits for its `ready`.
    pub(crate) fn start(args: &[&str]) -> Option<Running> {
        let mut command = Command::new(tracee()?);
        command.arg("below").args(args).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut parent = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(parent.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let pid = line.trim_end().strip_prefix("ready ").and_then(|pid| pid.parse().ok());
        Some(Running { parent, pid: pid.expect("its number") })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    /// Its standard input.
    pub(crate) fn input(&mut self) -> impl std::io::Write {
        self.parent.stdin.take().unwrap()
    }

    pub(crate) fn signal(&self, signal: i32) {
        // SAFETY: takes numbers only; the pid is of a child that was not waited for.
        assert_eq!(unsafe { libc::kill(self.pid() as i32, signal) }, 0);
    }

    /// A field of `/proc/PID/status`.
    pub(crate) fn status(&self, field: &str) -> String {
        let text = std::fs::read_to_string(format!("/proc/{}/status", self.pid())).unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
        line.unwrap_or_else(|| panic!("no {field}")).trim().to_string()
    }

    /// Context switches of its first thread: they move while it works.
    pub(crate) fn switches(&self) -> u64 {
        self.status("voluntary_ctxt_switches").parse().unwrap()
    }

    /// Waits until it has worked on.
    pub(crate) fn works_on(&self) {
        let before = self.switches();
        eventually("it works on", || self.switches() > before + 3);
    }

    /// Waits for its end: its status as its parent sees it, 128 and more for a signal.
    pub(crate) fn status_at_end(&mut self) -> Option<i32> {
        self.parent.wait().unwrap().code()
    }

    /// Asks it to end.
    pub(crate) fn finish(mut self) -> Option<i32> {
        self.signal(libc::SIGTERM);
        self.status_at_end()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It dies with its parent; where that has ended there is nothing left to kill.
        let _ = self.parent.kill();
        let _ = self.parent.wait();
    }
}

/// Waits until `is_so`.
pub(crate) fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let limit = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < limit, "never: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// A recording of running processes in a thread of its own, while `meanwhile` goes on here. `meanwhile` is given the
/// number of calls seen so far.
pub(crate) fn attached(
    pids: &[u32],
    options: PtraceOptions,
    meanwhile: impl FnOnce(&dyn Fn() -> usize),
) -> Result<(Recorded, Summary), PtraceError> {
    let stop = AtomicBool::new(false);
    let seen = std::sync::atomic::AtomicUsize::new(0);
    let (ready, is_ready) = mpsc::channel();
    std::thread::scope(|scope| {
        let recording = scope.spawn(|| {
            let mut recorder = Recorder::attach(pids, options).inspect_err(|_| {
                let _ = ready.send(false);
            })?;
            let mut recorded = Recorded::default();
            let _ = ready.send(true);
            let summary = recorder.run(&mut || stop.load(Ordering::Relaxed), &mut |event| {
                recorded.push(event);
                seen.store(recorded.calls.len(), Ordering::Relaxed);
            })?;
            Ok((recorded, summary))
        });
        // A failed assertion must not leave the recording running for ever.
        let stops = StopAtEnd(&stop);
        if is_ready.recv() == Ok(true) {
            meanwhile(&|| seen.load(Ordering::Relaxed));
        }
        drop(stops);
        recording.join().unwrap()
    })
}

struct StopAtEnd<'a>(&'a AtomicBool);

impl Drop for StopAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
