//! Thread ids that change hands: a thread that is not the first of its process runs another program, and takes over the
//! first one's id.

use super::{TIMES, only, thread_falls_asleep};
use crate::common::skipped;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use whyslow_model::{CallFlags, Event, SourceId};
use whyslow_record::{Options, RecordError, Session};

const CHILD: &str = "WHYSLOW_TEST_CHILD";

/// In the child: says which thread this is, waits for the start, calls getppid 23 times, and becomes `sleep`.
fn child() -> ! {
    assert_ne!(rustix::thread::gettid().as_raw_nonzero().get() as u32, std::process::id());
    // Past the harness, which keeps what is printed.
    let mut out = std::fs::File::options().write(true).open("/dev/stderr").unwrap();
    writeln!(out, "{}", rustix::thread::gettid().as_raw_nonzero()).unwrap();
    std::io::stdin().read_exact(&mut [0]).unwrap();
    for _ in 0..TIMES {
        let _ = rustix::process::getppid();
    }
    panic!("{}", Command::new("sleep").arg("0.05").exec());
}

/// A thread id, a call's name, and whether its start was seen.
type Call = (u32, String, bool);

/// Records the child, all of it or one thread alone: its id, the thread's, and the calls.
fn record(thread_alone: bool) -> Option<(u32, u32, Vec<Call>)> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([
            "known_workload::ids::a_thread_keeps_its_record_as_it_takes_over_the_first_ones_id",
            "--exact",
        ])
        .env(CHILD, "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = Vec::new();
    let mut told = child.stderr.take().unwrap();
    let mut byte = [0];
    while told.read(&mut byte).unwrap() == 1 && byte[0] != b'\n' {
        line.push(byte[0]);
    }
    let thread: u32 = String::from_utf8(line).unwrap().parse().unwrap();
    thread_falls_asleep(child.id(), thread);
    let folder = tempfile::tempdir().unwrap();
    let options = only(|options| {
        options.spool = folder.path().into();
        if thread_alone {
            options.tids = vec![thread];
        } else {
            options.pids = vec![child.id()];
        }
    });
    let session = match Session::start(Options { follow: true, ..options }) {
        Ok(session) => session,
        Err(error @ (RecordError::NoRights | RecordError::Load { .. })) => {
            skipped(format_args!("{error}"));
            child.kill().unwrap();
            child.wait().unwrap();
            return None;
        }
        Err(error) => panic!("{error}"),
    };
    child.stdin.take().unwrap().write_all(b"g").unwrap();
    assert!(child.wait().unwrap().success());
    let recorded = session.stop().unwrap();
    assert!(recorded.losses.iter().all(|loss| loss.lost == 0), "{:?}", recorded.losses);
    let mut calls = Vec::new();
    let mut on_cpu = 0;
    let mut sink = |event: Event<'_>| match event {
        Event::Call(call) => {
            let whole = !call.flags.contains(CallFlags::START_NOT_SEEN);
            calls.push((call.tid, String::from_utf8_lossy(call.name).into_owned(), whole));
        }
        Event::Stretch(stretch) => on_cpu += stretch.on_cpu.get().unwrap_or_default(),
        _ => {}
    };
    recorded.replay("test", SourceId::default(), &mut sink).unwrap();
    assert!(on_cpu < 50_000_000, "asleep is not on a CPU: {on_cpu} ns");
    Some((child.id(), thread, calls))
}

#[test]
fn a_thread_keeps_its_record_as_it_takes_over_the_first_ones_id() {
    if std::env::var_os(CHILD).is_some() {
        child();
    }
    for thread_alone in [false, true] {
        let Some((process, thread, calls)) = record(thread_alone) else { return };
        let of = |tid: u32, name: &str| calls.iter().filter(|call| call.0 == tid && call.1 == name).count();
        assert_eq!(of(thread, "getppid"), TIMES, "alone {thread_alone}: {calls:?}");
        // What the new program does is the process' first thread's, its sleep and the exec's return among it.
        let slept = calls.iter().filter(|call| call.1.contains("nanosleep")).collect::<Vec<_>>();
        let [(tid, _, true)] = slept[..] else { panic!("alone {thread_alone}: {slept:?}") };
        assert_eq!(*tid, process);
        assert!(calls.contains(&(process, "execve".into(), true)), "alone {thread_alone}: {calls:?}");
    }
}
