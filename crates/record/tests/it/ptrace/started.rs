//! Commands that the recorder starts: every call counted, with its memory; families, threads, exec, signals.

use super::program::{Recorded, options, record};
use crate::common::skipped;
use std::ffi::OsStr;
use whyslow_record::ptrace::{
    PtraceError, PtraceOptions, Recorder, RecordingEnd, ThreadEnd, TraceOrigin, calibrate, signal_name,
};
use whyslow_record::raw::RawFlags;

#[test]
fn every_call_is_counted_and_timed() {
    let Some((recorded, summary)) = record(&["probes", "1000"], options()) else { return };
    assert_eq!(recorded.probes(), 1000);
    assert_eq!(summary.command, Some(ThreadEnd::Exit(7)));
    assert_eq!(summary.ending, RecordingEnd::AllEnded);
    let pid = recorded.started[0].0;
    assert_eq!(recorded.started, [(pid, pid, Some(std::process::id()), TraceOrigin::Command)]);
    assert_eq!(recorded.ended, [(pid, pid, ThreadEnd::Exit(7))]);
    assert_eq!(recorded.execs, [(pid, pid)]);
    assert_eq!(recorded.calls[0].nr, libc::SYS_execve, "nothing of what was before the command is shown");
    for call in recorded.of(libc::SYS_getppid) {
        assert_eq!((call.pid, call.tid, call.flags), (pid, pid, RawFlags::default()));
        assert_eq!(call.ret, i64::from(std::process::id()));
    }
    let mut end = 0;
    for call in &recorded.calls {
        let enter = call.enter.unwrap();
        assert!(enter >= end, "calls of one thread do not overlap");
        end = enter + call.dur.unwrap_or(0);
    }
    let last = recorded.calls.last().unwrap();
    assert_eq!((last.nr, last.dur), (libc::SYS_exit_group, None));
    assert!(last.flags.contains(RawFlags::NO_EXIT));
}

#[test]
fn wanted_calls_only_with_and_without_the_kernels_filter() {
    for filter_in_kernel in [false, true] {
        let options =
            PtraceOptions { syscalls: Some(vec![libc::SYS_getppid as u16]), filter_in_kernel, ..options() };
        let Some((recorded, summary)) = record(&["forks", "20"], options) else { return };
        assert_eq!((recorded.probes(), recorded.calls.len()), (20, 20));
        assert_eq!(summary.command, Some(ThreadEnd::Exit(0)));
        if filter_in_kernel && cfg!(target_arch = "x86_64") {
            // Two a probe, one a fork, some at the start of the command and of each child.
            assert!(summary.stops < 200, "the kernel passes what is not wanted: {}", summary.stops);
        }
    }
}

/// The pieces of the calls `nr`: argument, part, text.
fn texts(recorded: &Recorded, nr: i64) -> Vec<Vec<(u8, u8, String)>> {
    let text = |bytes: &Vec<u8>| String::from_utf8_lossy(bytes).into_owned();
    let of_call = |pieces: &Vec<(u8, u8, Vec<u8>, bool, bool)>| {
        pieces.iter().map(|it| (it.0, it.1, text(&it.2))).collect()
    };
    recorded.of(nr).map(|call| of_call(&call.pieces)).collect()
}

#[test]
fn memory_is_kept_as_the_specification_asks() {
    let Some((recorded, _)) = record(&["memory"], options()) else { return };
    let opened = texts(&recorded, libc::SYS_openat);
    assert!(opened.contains(&vec![(1, 0, "/nonexistent/file".into())]), "{opened:?}");
    let arguments = &texts(&recorded, libc::SYS_execve)[0];
    assert!(arguments.contains(&(1, 1, "memory".into())), "{arguments:?}");
    let connect = recorded.of(libc::SYS_connect).next().unwrap();
    assert_eq!(connect.ret, -i64::from(libc::ENOENT));
    assert_eq!(&connect.pieces[0].2[2..21], b"/nonexistent/socket");
    let written = texts(&recorded, libc::SYS_write);
    assert!(written.contains(&vec![(1, 0, "question".into())]), "{written:?}");
    let read = texts(&recorded, libc::SYS_read);
    assert!(read.contains(&vec![(1, 0, "question".into())]), "a socket's data is payload: {read:?}");
    assert_eq!(read.last(), Some(&vec![]), "a device's is not");
    let vectored = &texts(&recorded, libc::SYS_writev)[0];
    assert_eq!((vectored[0].0, vectored[0].1), (1, 0), "the array itself");
    assert_eq!(vectored[1..], [(1, 1, "first ".into()), (1, 2, "second".into())]);
    let message = &texts(&recorded, libc::SYS_sendmsg)[0];
    let parts: Vec<(u8, &str)> = message[2..].iter().map(|(_, part, text)| (*part, text.as_str())).collect();
    assert_eq!(parts, [(4, "first "), (5, "second")], "{message:?}");
}

#[test]
fn unreadable_memory_is_said_to_be_missing() {
    let Some((recorded, summary)) = record(&["memory"], options()) else { return };
    let opens: Vec<_> =
        recorded.of(libc::SYS_openat).filter(|call| call.ret == -i64::from(libc::EFAULT)).collect();
    assert_eq!(opens.len(), 2);
    assert_eq!(opens[0].pieces, [(1, 0, vec![], false, true)]);
    assert!(opens[0].flags.contains(RawFlags::PIECE_MISSING));
    assert_eq!(opens[1].pieces, [], "1 is no address");
    assert_eq!(summary.incomplete, 1);
}

#[test]
fn payload_is_kept_only_where_asked_for() {
    let Some((recorded, _)) = record(&["memory"], PtraceOptions { payload: 0, ..options() }) else { return };
    let kept = |nr| texts(&recorded, nr).concat();
    assert_eq!(kept(libc::SYS_write), []);
    assert_eq!(kept(libc::SYS_writev).len(), 1, "the array, not the buffers");
    assert!(kept(libc::SYS_sendmsg).iter().all(|(_, part, _)| *part < 4));
    let Some((recorded, _)) = record(&["memory"], PtraceOptions { payload: 3, ..options() }) else { return };
    let write = recorded.of(libc::SYS_write).next().unwrap();
    assert_eq!(write.pieces, [(1, 0, b"que".to_vec(), true, false)]);
}

#[test]
fn a_storm_of_forks_is_followed() {
    for what in ["forks", "vforks"] {
        let Some((recorded, summary)) = record(&[what, "300"], options()) else { return };
        assert_eq!(summary.command, Some(ThreadEnd::Exit(0)), "{what}");
        assert_eq!(recorded.probes(), 300, "{what}");
        let parent = recorded.started[0].0;
        assert_eq!(recorded.started.len(), 301);
        assert_eq!(recorded.ended.len(), 301);
        for (i, (pid, tid, its_parent, origin)) in recorded.started[1..].iter().enumerate() {
            assert_eq!((pid, *its_parent, *origin), (tid, Some(parent), TraceOrigin::Created));
            assert!(recorded.ended.contains(&(*pid, *tid, ThreadEnd::Exit(i as i32 & 63))));
        }
    }
}

#[test]
fn without_follow_the_others_go_free() {
    let Some((recorded, summary)) = record(&["forks", "30"], PtraceOptions { follow: false, ..options() })
    else {
        return;
    };
    assert_eq!(summary.command, Some(ThreadEnd::Exit(0)));
    assert_eq!((recorded.probes(), recorded.started.len()), (0, 1));
}

#[test]
fn a_storm_of_threads_is_followed() {
    let Some((recorded, summary)) = record(&["crowd", "20"], options()) else { return };
    assert_eq!(summary.command, Some(ThreadEnd::Exit(0)));
    assert_eq!(recorded.probes(), 256 * 20);
    assert_eq!((recorded.started.len(), recorded.ended.len()), (257, 257));
    let process = recorded.started[0].0;
    assert!(recorded.started.iter().all(|(pid, ..)| *pid == process));
    for (_, tid, ..) in &recorded.started[1..] {
        assert_eq!(recorded.of(libc::SYS_getppid).filter(|call| call.tid == *tid).count(), 20);
    }
}

#[test]
fn an_exec_of_another_thread_than_the_first() {
    let Some((recorded, summary)) = record(&["thread-exec"], options()) else { return };
    assert_eq!(summary.command, Some(ThreadEnd::Exit(7)));
    let pid = recorded.started[0].0;
    let other = recorded.started[1].1;
    assert_eq!(recorded.execs, [(pid, pid), (pid, other)]);
    assert_eq!(recorded.probes(), 5);
    assert!(recorded.of(libc::SYS_getppid).all(|call| (call.pid, call.tid) == (pid, pid)));
    let waited = recorded.of(libc::SYS_pause).next().unwrap();
    assert!(waited.flags.contains(RawFlags::NO_EXIT) && waited.flags.contains(RawFlags::KILLED));
    let second = recorded.of(libc::SYS_execve).nth(1).unwrap();
    assert_eq!((second.ret, second.tid), (0, pid));
    assert!(second.pieces.iter().any(|piece| piece.2 == b"probes"), "read before the memory was gone");
}

#[test]
fn memory_is_read_after_the_first_thread_ended() {
    let Some((recorded, summary)) = record(&["first-thread-ends"], options()) else { return };
    assert_eq!(summary.command, Some(ThreadEnd::Exit(3)));
    let opened = texts(&recorded, libc::SYS_openat);
    assert_eq!(opened.last().unwrap()[0].2, "/nonexistent/after-the-first-thread");
}

#[test]
fn signals_reach_the_program_and_the_recording() {
    let Some((recorded, summary)) = record(&["signals", "100"], options()) else { return };
    assert_eq!(summary.command, Some(ThreadEnd::Exit(0)), "it counted all of them");
    let pid = recorded.started[0].0;
    assert_eq!(recorded.signals.len(), 100);
    for signal in &recorded.signals {
        assert_eq!((signal.pid, signal.tid, signal_name(signal.signal).as_str()), (pid, pid, "SIGUSR1"));
        assert_eq!((signal.code, signal.sender.unwrap().0), (libc::SI_USER, pid));
    }
}

#[test]
fn a_death_by_signal_is_seen() {
    let Some((recorded, summary)) = record(&["aborts"], options()) else { return };
    assert_eq!(summary.command, Some(ThreadEnd::Signal(libc::SIGKILL)));
    let last = recorded.calls.last().unwrap();
    assert!(last.flags.contains(RawFlags::KILLED) && last.flags.contains(RawFlags::NO_EXIT), "{last:?}");
}

#[test]
#[cfg(target_arch = "x86_64")]
fn calls_of_the_32_bit_table_are_marked() {
    let Some((recorded, summary)) = record(&["compat", "10"], options()) else { return };
    if summary.command != Some(ThreadEnd::Exit(0)) {
        skipped(format_args!("this kernel has no calls of 32-bit programs: {:?}", summary.command));
        return;
    }
    let compat = |call: &&super::program::Call| call.flags.contains(RawFlags::COMPAT);
    assert_eq!(recorded.of(64).filter(compat).count(), 10);
    assert_eq!(recorded.calls.iter().filter(compat).count(), 10);
}

#[test]
fn a_command_that_cannot_run_is_an_error() {
    let spawn = |program: &str| Recorder::spawn(OsStr::new(program), &[], options());
    let failed = |program: &str| match spawn(program) {
        Err(error) => error,
        Ok(mut recorder) => recorder.run(&mut || false, &mut |_| {}).expect_err("it cannot run"),
    };
    assert_eq!(failed("no-such-command").to_string(), "cannot run no-such-command: entity not found");
    assert!(matches!(failed("/"), PtraceError::Exec { .. }));
    let directory = tempfile::tempdir().unwrap();
    let script = directory.path().join("script");
    std::fs::write(&script, "#!/no/such/interpreter\n").unwrap();
    std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let error = failed(script.to_str().unwrap());
    assert!(matches!(error, PtraceError::Exec { .. }), "{error}");
}

#[test]
fn the_price_of_a_call_is_measured() {
    let price = calibrate(500).unwrap();
    assert!(price.bare > 0.0 && price.recorded > price.bare, "{price:?}");
}
