//! Programs that run already: taken with all threads, let go unharmed, whatever ends the recording.

use super::program::{Running, attached, eventually, options};
use std::io::Write;
use std::process::{Command, Stdio};
use whyslow_record::ptrace::{PtraceError, PtraceOptions, Recorder, RecordingEnd, ThreadEnd, TraceOrigin};
use whyslow_record::raw::RawFlags;

/// It runs on, and nobody traces it.
fn is_free(program: &Running) {
    assert_eq!(program.status("TracerPid"), "0");
    program.works_on();
}

/// Waits until it waits in `read`.
fn is_in_read(program: &Running) {
    let read = format!("{} ", libc::SYS_read);
    let syscall = || std::fs::read_to_string(format!("/proc/{}/syscall", program.pid())).unwrap();
    eventually("it reads", || syscall().starts_with(&read));
}

#[test]
fn a_running_program_with_its_threads() {
    let Some(program) = Running::start(&["works", "3"]) else { return };
    let (recorded, summary) = attached(&[program.pid()], options(), |seen| {
        eventually("calls", || seen() > 2000);
    })
    .unwrap();
    assert_eq!(summary.ending, RecordingEnd::Stopped);
    assert_eq!((summary.lost, summary.left), (0, vec![]));
    let pid = program.pid();
    assert_eq!(recorded.started.len(), 4);
    assert!(recorded.started.iter().all(|it| (it.0, it.3) == (pid, TraceOrigin::Attached)));
    for (_, tid, ..) in &recorded.started {
        assert!(recorded.calls.iter().any(|call| call.tid == *tid), "of each thread");
    }
    is_free(&program);
    assert_eq!(program.finish(), Some(42));
}

#[test]
fn a_call_that_began_before_has_no_beginning() {
    let Some(mut program) = Running::start(&["waits"]) else { return };
    is_in_read(&program);
    let switches = program.switches();
    let (recorded, summary) = attached(&[program.pid()], options(), |_| {
        // It was stopped, let go on, and waits again.
        eventually("it is taken", || program.switches() > switches + 1);
        program.input().write_all(b"x").unwrap();
        assert_eq!(program.status_at_end(), Some(0));
    })
    .unwrap();
    assert_eq!(summary.ending, RecordingEnd::AllEnded);
    let read = recorded.of(libc::SYS_read).next().unwrap();
    assert_eq!((read.ret, read.enter, read.dur), (1, None, None));
    assert!(read.flags.contains(RawFlags::NO_ENTER));
    assert_eq!(recorded.ended, [(program.pid(), program.pid(), ThreadEnd::Exit(0))]);
}

#[test]
fn a_call_that_does_not_return_has_no_end() {
    let Some(program) = Running::start(&["waits"]) else { return };
    is_in_read(&program);
    let switches = program.switches();
    let (recorded, summary) = attached(&[program.pid()], options(), |_| {
        eventually("it is taken", || program.switches() > switches + 1);
    })
    .unwrap();
    assert_eq!(summary.ending, RecordingEnd::Stopped);
    assert!(recorded.calls.iter().all(|call| call.dur.is_none()));
    assert_eq!(program.status("TracerPid"), "0");
}

#[test]
fn a_program_that_makes_threads_and_processes_all_the_time() {
    let Some(program) = Running::start(&["churn"]) else { return };
    for round in 0..12 {
        // Let go with and without the others; recorded for long and not at all.
        let options = PtraceOptions { follow: round % 3 != 0, ..options() };
        let (recorded, summary) = attached(&[program.pid()], options, |seen| {
            eventually("calls", || seen() > round * 40);
        })
        .unwrap();
        assert_eq!(summary.left, [0; 0]);
        for call in recorded.calls.iter().filter(|call| call.nr == libc::SYS_getppid) {
            assert_eq!(call.pid, program.pid(), "a thread is of its process");
        }
        eventually("it is free", || program.status("TracerPid") == "0");
    }
    is_free(&program);
    assert_eq!(program.finish(), Some(42));
}

#[test]
fn several_programs_at_once() {
    let (Some(one), Some(two)) = (Running::start(&["works", "1"]), Running::start(&["works", "1"])) else {
        return;
    };
    let both = |recorded: &super::program::Recorded| {
        [one.pid(), two.pid()].map(|pid| recorded.calls.iter().filter(|call| call.pid == pid).count())
    };
    let (recorded, _) =
        attached(&[one.pid(), two.pid(), one.pid()], options(), |seen| eventually("calls", || seen() > 3000))
            .unwrap();
    assert!(both(&recorded).iter().all(|calls| *calls > 0), "{:?}", both(&recorded));
    is_free(&one);
    is_free(&two);
}

#[test]
fn stopping_and_continuing_works_as_ever() {
    let Some(program) = Running::start(&["works", "1"]) else { return };
    let (recorded, _) = attached(&[program.pid()], options(), |seen| {
        eventually("calls", || seen() > 100);
        program.signal(libc::SIGSTOP);
        // A signal that is taken from the queue is one that the recorder was told of.
        eventually("it is told to stop", || u64::from_str_radix(&program.status("ShdPnd"), 16) == Ok(0));
        let (mut before, mut quiet) = (seen(), 0);
        eventually("no more calls", || {
            quiet = if std::mem::replace(&mut before, seen()) == before { quiet + 1 } else { 0 };
            quiet == 20
        });
        assert!(program.status("State").starts_with(['T', 't']));
        program.signal(libc::SIGCONT);
        eventually("it goes on", || seen() > before + 100);
    })
    .unwrap();
    let signals: Vec<i32> = recorded.signals.iter().map(|signal| signal.signal).collect();
    assert!(signals.contains(&libc::SIGSTOP) && signals.contains(&libc::SIGCONT), "{signals:?}");
    is_free(&program);
    assert_eq!(program.finish(), Some(42));
}

#[test]
fn what_stands_still_stays_so() {
    let Some(program) = Running::start(&["works", "2"]) else { return };
    program.signal(libc::SIGSTOP);
    eventually("it stops", || program.status("State").starts_with('T'));
    // Taken while it stands, let go while it stands.
    attached(&[program.pid()], options(), |_| std::thread::sleep(std::time::Duration::from_millis(50)))
        .unwrap();
    assert_eq!(program.status("TracerPid"), "0");
    // The kernel takes it from its tracing stop to its own by way of running.
    eventually("it stands", || program.status("State").starts_with('T'));
    program.signal(libc::SIGCONT);
    is_free(&program);
    assert_eq!(program.finish(), Some(42));
}

#[test]
fn it_may_end_while_it_is_recorded() {
    for (signal, status, end) in
        [(libc::SIGTERM, 42, ThreadEnd::Exit(42)), (libc::SIGKILL, 128 + 9, ThreadEnd::Signal(libc::SIGKILL))]
    {
        let Some(mut program) = Running::start(&["works", "4"]) else { return };
        let (recorded, summary) = attached(&[program.pid()], options(), |seen| {
            eventually("calls", || seen() > 100);
            program.signal(signal);
            assert_eq!(program.status_at_end(), Some(status));
        })
        .unwrap();
        assert_eq!((summary.ending, summary.command), (RecordingEnd::AllEnded, None));
        assert_eq!(recorded.ended.len(), 5, "{:?}", recorded.ended);
        assert!(recorded.ended.contains(&(program.pid(), program.pid(), end)));
    }
}

#[test]
fn a_dropped_recorder_lets_go() {
    let Some(program) = Running::start(&["works", "2"]) else { return };
    let pid = program.pid();
    // Never run; and run with a sink that fails.
    std::thread::spawn(move || drop(Recorder::attach(&[pid], options()).unwrap())).join().unwrap();
    is_free(&program);
    let failed = std::thread::spawn(move || {
        let mut recorder = Recorder::attach(&[pid], options()).unwrap();
        recorder.run(&mut || false, &mut |event| {
            if matches!(event, whyslow_record::ptrace::RawEvent::Call(_)) {
                std::panic::panic_any("the sink failed");
            }
        })
    });
    assert!(failed.join().is_err());
    is_free(&program);
    assert_eq!(program.finish(), Some(42));
}

/// The other half of the next test: a process that records until it is killed. Does nothing by itself.
#[test]
fn records_until_it_is_killed() {
    let Ok(pid) = std::env::var("WHYSLOW_TEST_RECORD_PID") else { return };
    let mut recorder = Recorder::attach(&[pid.parse().unwrap()], options()).unwrap();
    recorder.run(&mut || false, &mut |_| {}).unwrap();
}

#[test]
fn the_program_survives_the_recorder() {
    let Some(program) = Running::start(&["works", "3"]) else { return };
    for round in 0..5 {
        let mut recorder = Command::new(std::env::current_exe().unwrap())
            .args(["ptrace::attached::records_until_it_is_killed", "--exact"])
            .env("WHYSLOW_TEST_RECORD_PID", program.pid().to_string())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        eventually("it is traced", || program.status("TracerPid") != "0");
        // Its threads are in all kinds of stops by now.
        program.works_on();
        recorder.kill().unwrap();
        recorder.wait().unwrap();
        eventually("it is free", || program.status("TracerPid") == "0");
        is_free(&program);
        assert!(!program.status("State").starts_with(['T', 't']), "round {round}");
    }
    assert_eq!(program.finish(), Some(42));
}

#[test]
fn what_is_traced_already_names_its_tracer() {
    let Some(program) = Running::start(&["works", "1"]) else { return };
    attached(&[program.pid()], options(), |_| {
        let other = std::thread::scope(|scope| {
            scope.spawn(|| Recorder::attach(&[program.pid()], options()).map(drop)).join().unwrap()
        });
        match other {
            Err(PtraceError::Traced { pid, tracer, .. }) => {
                assert_eq!((pid, tracer), (program.pid(), std::process::id()));
            }
            other => panic!("{other:?}"),
        }
    })
    .unwrap();
    is_free(&program);
}

#[test]
fn what_cannot_be_traced_is_refused_in_words() {
    let refused = |pid| Recorder::attach(&[pid], options()).map(drop).unwrap_err();
    assert!(matches!(refused(std::process::id()), PtraceError::Ourselves { .. }));
    // Above the largest pid_max.
    assert!(matches!(refused(5_000_000), PtraceError::NoSuchProcess { .. }));
    if std::fs::read_to_string("/proc/2/comm").is_ok_and(|comm| comm == "kthreadd\n") {
        assert!(matches!(refused(2), PtraceError::KernelThread { .. }), "{}", refused(2));
    } else {
        println!("note: no kernel threads are visible here, so none was refused");
    }
}

#[test]
fn one_refusal_lets_go_of_all() {
    let Some(program) = Running::start(&["works", "1"]) else { return };
    let pids = [program.pid(), 5_000_000];
    assert!(Recorder::attach(&pids, options()).is_err());
    is_free(&program);
}

#[test]
fn a_subset_of_the_calls() {
    let Some(program) = Running::start(&["works", "1"]) else { return };
    let subset = PtraceOptions { syscalls: Some(vec![libc::SYS_clock_nanosleep as u16]), ..options() };
    let (recorded, _) =
        attached(&[program.pid()], subset, |seen| eventually("calls", || seen() > 20)).unwrap();
    assert!(recorded.calls.iter().all(|call| call.nr == libc::SYS_clock_nanosleep));
    is_free(&program);
}
