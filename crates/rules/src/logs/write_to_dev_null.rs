//! # write-to-dev-null
//!
//! ## What it is
//! A program formats output and writes it to `/dev/null`, hundreds of times a second.
//!
//! ## Why it is slow
//! The write itself is cheap, the way to it is not: the message is put together, a lock is taken that all
//! threads share, a system call is made for each line. All of it for nobody.
//!
//! ## Example
//! ```text
//! openat(AT_FDCWD, "/dev/null", O_WRONLY) = 1
//! write(1, "2018-11-29 07:43:23 INFO started\n", 33) = 33
//! ```
//!
//! ## What to do instead
//! Turn the appender, the verbose mode or the progress output off at its source (`--quiet`, log level, root
//! logger without a console appender) instead of throwing its output away.
//!
//! ## When it is wrong
//! `cron` and scripts redirect to `/dev/null` for silence: a few writes cost nothing.

use crate::engine::{Findings, Need, Rule, Subjects};
use crate::{guards, words};
use whyslow_facts::{Facts, Stream};
use whyslow_model::{FdKind, Nanos, Severity, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "write-to-dev-null",
    group: "logs",
    summary: "output is formatted and thrown away",
    source: include_str!("write_to_dev_null.rs"),
    needs: &[Need::Calls, Need::AnyOf(&["write", "writev"]), Need::Descriptors],
    check,
};

/// The part of the time from which on it is worth a word.
const WORTH_A_WORD: f64 = 0.01;
/// Writes a second from which on the formatting behind them counts, whatever the writes themselves cost.
const MANY_PER_S: f64 = 100.0;

fn check(facts: &Facts, out: &mut Findings<'_>) {
    let nowhere: Vec<&Stream> = facts
        .streams
        .iter()
        .filter(|stream| stream.kind == FdKind::DevNull && stream.writes.calls.count > 0)
        .collect();
    let Some(busiest) = nowhere.iter().max_by_key(|stream| stream.writes.calls.count) else {
        return;
    };
    let (mut count, mut bytes, mut ns, mut timed) = (0u64, 0u64, 0u64, 0u64);
    for stream in &nowhere {
        let calls = &stream.writes.calls;
        count = count.saturating_add(calls.count);
        bytes = bytes.saturating_add(calls.bytes);
        ns = ns.saturating_add(calls.total_ns);
        timed = timed.saturating_add(calls.timed);
    }
    let total = if timed > 0 { Nanos::new(ns) } else { Nanos::UNKNOWN };
    let writes = &busiest.writes;
    let only_thread = writes.only_thread().filter(|_| nowhere.len() == 1);
    let share = guards::share_of_storm(facts, only_thread, total, count);
    let rate = facts.window.per_second(count);
    let many = count >= guards::FEW_CALLS && facts.pace.untraced(rate).is_none_or(|rate| rate >= MANY_PER_S);
    let dear = count >= guards::FEW_CALLS / 10 && share.value.is_some_and(|share| share >= WORTH_A_WORD);
    if !many && !dear {
        return;
    }
    let often = rate.map_or(String::new(), |rate| format!(", {} a second", words::quantity(rate)));
    let mut subject = Subjects::thread(facts, writes.tid);
    if only_thread.is_none() {
        subject.tid = None;
    }
    let cost = if total.is_known() { format!(" The writes alone take {total}.") } else { String::new() };
    out.report(share, format!("/dev/null: {} writes, {} for nobody{often}", words::count(count), words::bytes(bytes)))
        .at_most(Severity::Warning)
        .subject(Subject {
            path: Some("/dev/null".to_string()),
            fd: busiest.fd,
            syscall: Some("write".to_string()),
            ..subject
        })
        .cause(format!(
            "Output that nobody reads is put together and written, one system call a piece; what formatting it costs \
             comes on top and is not in the capture.{cost}"
        ))
        .fix("turn it off at its source: a log appender for the console (logback, log4j2: remove the appender-ref; Python: remove the StreamHandler), --quiet, a higher log level")
        .fix("systemd: StandardOutput=null saves nothing by itself; the program must stop writing")
        .verify("strace -f -y -c -e trace=write -P /dev/null -p PID   (after: none)")
        .saving(total)
        .evidence_all(writes.exemplars.iter())
        .file();
}
