//! Input from strangers: any bytes, damaged captures, endless lines. Nothing panics, hangs or grows without bound,
//! and neither the way the bytes arrive nor the number of threads changes what is read.

use crate::common::{bytes, own, published, see};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::path::Path;
use whyslow_model::{Event, SourceInfo};
use whyslow_read::{Input, ReadOptions, read};

/// Lines that are joined, torn, wrapped and rewritten: what one line means depends on others.
const LINES: &[&str] = &[
    "21124 10:34:34.289915 sendto(669, \"*4\\r\\n\", 89, 0, NULL, 0) = 89 <0.000051>",
    "21124 10:34:34.290015 poll([{fd=669, events=POLLIN|POLLERR}], 1, 2000 <unfinished ...>",
    "21124 10:34:36.069123 <... poll resumed> ) = 1 ([{fd=669, revents=POLLIN}]) <1.779099>",
    "7 23:59:59.999999 write(835, \"HTTP\", 283) = -1 EPIPE (Broken pipe) <0.000037>",
    "7 00:00:00.000001 --- SIGPIPE {si_signo=SIGPIPE, si_code=SI_USER, si_pid=14985, si_uid=0} ---",
    "[pid  9194] wait4(-1, Process 9194 suspended",
    "[pid  9194] <... wait4 resumed> [{WIFEXITED(s)}], 0, NULL) = 9195",
    "5961<sh> 1795227758.672510 read(fd=3, buf=\"a=b\", count=832) = 832",
    "     0.000123 (+     0.000020) close(3) = 0",
    "\x1b[1mclose\x1b[0m(3) = 0",
    "8 execve(\"/x\", [\"x\"], 0x7f /* 5 vars */ <unfinished ...>",
    "7 +++ superseded by execve in pid 8 +++",
    "7 <... execve resumed>) = ? <unavailable>",
    "7 <... read resumed> <unfinished ...>",
    "write(2, \"x\"..., 5hello",
    ") = 5",
    "+++ exited with 0 +++",
    " > /lib/libc.so.6(read+0x5) [0x123]",
    "strace: Process 4 attached",
    "% time     seconds  usecs/call     calls    errors syscall",
    "100.00    0.000237           4        57         3 close",
    "12 libfoo.so->puts(\"x\") = <void>",
    "12 SYS_read(3, \"x\", 5) = -11 <0.1>",
    "i1091 08:36:23.5 stat(\"/x\"",
    "close(99999999999999999999999) = 99999999999999999999999",
    "",
    "hello",
];

/// A log of such lines.
fn any_log() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(prop::sample::select(LINES), 1..60)
        .prop_map(|lines| lines.iter().flat_map(|line| [line.as_bytes(), b"\n"].concat()).collect())
}

/// A log with some bytes changed, dropped, doubled or put in.
fn damaged_log() -> impl Strategy<Value = Vec<u8>> {
    let change = (any::<prop::sample::Index>(), 0u8..4, any::<u8>());
    (any_log(), prop::collection::vec(change, 0..12)).prop_map(|(mut log, changes)| {
        for (index, kind, byte) in changes {
            let at = index.index(log.len().max(1));
            damage(&mut log, at, kind, byte);
        }
        log
    })
}

fn damage(log: &mut Vec<u8>, at: usize, kind: u8, byte: u8) {
    match kind {
        _ if log.is_empty() => log.push(byte),
        0 => log[at] = byte,
        1 => drop(log.remove(at)),
        2 => log.insert(at, byte),
        _ => log.truncate(at.max(1)),
    }
}

fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r'))
}

/// Every line is counted once.
fn check_accounts(log: &[u8], info: &SourceInfo) {
    let text = log.strip_suffix(b"\n").unwrap_or(log);
    let lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
    // Colour codes may make up a whole line; rewritten, it is blank.
    let blank = lines.iter().filter(|line| is_blank(line)).count() as u64;
    let counted = info.events + info.rejects + info.foreign;
    assert_eq!(info.lines, lines.len() as u64, "{info:?}");
    let coloured = lines.iter().filter(|line| line.contains(&0x1b)).count() as u64;
    assert!(
        counted + blank <= info.lines && info.lines <= counted + blank + coloured,
        "{info:?}, {blank} blank"
    );
    assert_eq!(info.bytes, log.len() as u64);
}

/// Reads as strace's, whatever it looks like: behind a line that is surely a trace.
fn read_accounted(log: &[u8], threads: usize) {
    let log = [b"5 close(3) = 0\n".repeat(4), log.to_vec()].concat();
    let mut infos = Vec::new();
    let mut sink = |event: Event<'_>| {
        if let Event::Source(info) = event {
            infos.push(info);
        }
    };
    let _ = read(&[bytes("t", &log)], &ReadOptions { threads }, &(), &mut sink);
    infos.iter().for_each(|info| check_accounts(&log, info));
}

proptest! {
    #[test]
    fn any_bytes_are_survived(log in prop::collection::vec(any::<u8>(), 0..3000)) {
        read_accounted(&log, 1);
    }

    #[test]
    fn damaged_logs_are_accounted_for(log in damaged_log()) {
        read_accounted(&log, 1);
        read_accounted(&log, 2);
    }

    #[test]
    fn several_damaged_logs_are_merged(logs in prop::collection::vec(damaged_log(), 2..5)) {
        let inputs: Vec<Input> = logs.iter().enumerate().map(|(i, log)| bytes(&format!("t.{i}"), log)).collect();
        see(&inputs, 1);
    }
}

/// Real captures, damaged at random places from a fixed seed.
#[test]
fn damaged_captures_are_survived() {
    assert_damage_is_survived(&own());
}

#[test]
fn damaged_published_captures_are_survived() {
    if let Some(captures) = published() {
        assert_damage_is_survived(&captures);
    }
}

fn assert_damage_is_survived(captures: &Path) {
    let mut samples = Vec::new();
    for folder in ["strace", "ltrace", "seeds/001", "seeds/000"] {
        let entries = std::fs::read_dir(captures.join(folder)).expect("the folder can be read");
        let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
        // The seed chooses by number.
        paths.sort();
        for path in paths {
            let mut data = std::fs::read(path).expect("a file");
            data.truncate(24 << 10);
            samples.push(data);
        }
    }
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner =
        TestRunner::new_with_rng(Config { failure_persistence: None, ..Config::with_cases(600) }, rng);
    let change = (any::<prop::sample::Index>(), 0u8..3, any::<u8>());
    let strategy = (any::<prop::sample::Index>(), prop::collection::vec(change, 1..200), 1usize..3);
    let result = runner.run(&strategy, |(which, changes, threads)| {
        let mut log = which.get(&samples).clone();
        for (index, kind, byte) in changes {
            let at = index.index(log.len().max(1));
            damage(&mut log, at, kind, byte);
        }
        read_accounted(&log, threads);
        Ok(())
    });
    result.expect("no damage is fatal");
}

#[test]
fn any_number_of_threads_sees_the_same() {
    let log: String = (0..60_000).map(|i| format!("{}\n", LINES[i * 7 % LINES.len()])).collect();
    let inputs = [bytes("t", log.as_bytes())];
    let alone = see(&inputs, 1);
    assert!(alone.events.len() > 20_000);
    for threads in [2, 3, 8] {
        assert_eq!(alone, see(&inputs, threads), "{threads} threads");
    }
}

#[test]
fn endless_lines_and_empty_lines_stay_bounded() {
    let mut log = b"close(3) = 0\nwrite(1, \"".to_vec();
    log.resize(32 << 20, b'x');
    log.extend_from_slice(b"\", 5) = 5\nclose(4) = 0\n");
    let seen = see(&[bytes("t", &log)], 2);
    assert_eq!(seen.events.len(), 2);
    assert!(
        seen.sources[0].contains("lines: 3") && seen.sources[0].contains("rejects: 1"),
        "{:?}",
        seen.sources
    );
    for byte in [b'\n', 0, b' ', b'(', b'=', b'<', b'"', b'1'] {
        let mut log = b"close(3) = 0\n".to_vec();
        log.resize(2 << 20, byte);
        see(&[bytes("t", &log)], 1);
    }
}

#[test]
fn a_call_open_in_every_thread_stays_bounded() {
    let log: String = (1..=150_000).map(|tid| format!("{tid} read(3,  <unfinished ...>\n")).collect();
    let seen = see(&[bytes("t", log.as_bytes())], 1);
    assert_eq!(seen.events.len(), 300_000);
    assert!(seen.sources[0].contains("ends_not_seen: 150000"), "{:?}", seen.sources);
}

/// The reader of a panicking sink stops instead of waiting for it.
#[test]
fn a_panicking_sink_ends_the_reading() {
    let log = "1 close(3) = 0\n".repeat(200_000);
    let result = std::panic::catch_unwind(|| {
        let mut count = 0;
        let mut sink = |_: Event<'_>| {
            count += 1;
            assert!(count < 1_000, "on purpose");
        };
        let _ = read(&[bytes("t", log.as_bytes())], &ReadOptions { threads: 2 }, &(), &mut sink);
    });
    assert!(result.is_err());
}
