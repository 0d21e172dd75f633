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
//! `cron` and scripts redirect to `/dev/null` for silence: a few writes cost nothing. Where writes were only counted, samples of the
//! kernel tell that they go nowhere, from a twentieth of the CPU time on.

use crate::engine::{Findings, Need, Report, Rule, Subjects};
use crate::gate::gated;
use crate::guards;
use crate::io::streams::with_sums;
use crate::sampled::Sampled;
use crate::words;
use whyslow_facts::{Facts, Stream};
use whyslow_model::{FdKind, Measurement, Nanos, SampleKind, Severity, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "write-to-dev-null",
    group: "logs",
    summary: "output is formatted and thrown away",
    source: include_str!("write_to_dev_null.rs"),
    needs: &[
        Need::Either(&[Need::AnyOf(&["write", "writev"]), Need::Scheduling, Need::Table("files")]),
        Need::Either(&[Need::Descriptors, Need::Scheduling, Need::Table("files")]),
    ],
    check,
};

/// The part of the time from which on it is worth a word.
const WORTH_A_WORD: f64 = 0.01;
/// Writes a second from which on the formatting behind them counts, whatever the writes themselves cost.
const MANY_PER_S: f64 = 100.0;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let nowhere: Vec<&Stream> = with_sums(facts)
        .filter(|stream| stream.kind == FdKind::DevNull && stream.writes.calls.count > 0)
        .collect();
    let sampled = sampled(facts);
    let Some(busiest) = nowhere.iter().max_by_key(|stream| stream.writes.calls.count) else {
        if let Some(sampled) = sampled {
            report_sampled(facts, out, &sampled);
        }
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
    // Samples show also what the way into the kernel and back costs.
    let share = guards::share_of_storm(facts, only_thread, total, count);
    let share = match &sampled {
        Some(sampled) if share.value.is_none_or(|value| value < sampled.part) => sampled.share(facts),
        _ => share,
    };
    let rate = facts.window.per_second(count);
    let many = count >= guards::FEW_CALLS && facts.pace.untraced(rate).is_none_or(|rate| rate >= MANY_PER_S);
    let dear = count >= guards::FEW_CALLS / 10 && share.value.is_some_and(|share| share >= WORTH_A_WORD);
    if !many && !dear {
        // Of writes that were only counted, the slow ones alone are told one by one.
        if let Some(sampled) = sampled {
            report_sampled(facts, out, &sampled);
        }
        return;
    }
    let often = rate.map_or(String::new(), |rate| format!(", {} per second", words::quantity(rate)));
    let mut subject = Subjects::thread(facts, writes.tid);
    if only_thread.is_none() {
        subject.tid = None;
    }
    let cost = if total.is_known() { format!(" The writes alone take {total}.") } else { String::new() };
    let threshold = if many { guards::FEW_CALLS } else { guards::FEW_CALLS / 10 };
    let calls = Measurement::count("calls", count).at_least(threshold as f64);
    let bytes = Measurement::bytes("bytes", bytes);
    let rate = rate.map(|rate| Measurement::per_second("calls_per_second", rate));
    let of_time = share.figure();
    let title = format!("/dev/null: {calls} writes, {bytes} for nobody{often}");
    advised(out.report(share, title))
        .measured(calls)
        .measured(bytes)
        .measured_all(rate.map(|rate| guards::passed(rate, MANY_PER_S)))
        .measured(guards::passed(of_time, WORTH_A_WORD))
        .measured(Measurement::time("time", total))
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
        .saving(total)
        .evidence_all(writes.exemplars.iter())
        .file();
}

/// The process whose CPU time goes most into writes that the kernel throws away.
fn sampled(facts: &Facts) -> Option<Sampled<'_>> {
    Sampled::most(facts, |process, profile| {
        let calls = facts.samples.system_calls(SampleKind::OnCpu, process);
        let writes = calls.iter().find(|call| matches!(call.name, "write" | "writev"))?;
        (writes.object == Some("/dev/null")).then(|| profile.step.account.part(writes.weight.ns as f64))
    })
}

/// What to do instead is the same, however it was found.
fn advised<'f, 'a>(report: Report<'f, 'a>) -> Report<'f, 'a> {
    report
        .at_most(Severity::Warning)
        .fix("turn it off at its source: a log appender for the console (logback, log4j2: remove the appender-ref; Python: remove the StreamHandler), --quiet, a higher log level")
        .fix("systemd: StandardOutput=null saves nothing by itself; the program must stop writing")
        .verify("strace -f -y -c -e trace=write -P /dev/null -p PID   (after: none)")
}

/// Where no single writes were recorded.
fn report_sampled(facts: &Facts, out: &mut Findings<'_>, sampled: &Sampled<'_>) {
    let who = facts.profiled(sampled.profile);
    let share = Measurement::share("share_of_cpu_time", sampled.part).at_least(guards::WARNING_SHARE);
    let subject = Subject {
        pid: facts.world.threads.process(sampled.process).pid,
        path: Some("/dev/null".to_string()),
        syscall: Some("write".to_string()),
        ..Subject::default()
    };
    let title = format!("/dev/null: {who} spends {share} of its CPU time in writes for nobody");
    advised(out.report(sampled.share(facts), title))
        .measured(share.clone())
        .subject(subject)
        .cause("Output that nobody reads is put together and written, one system call a piece; what formatting it costs comes on top.")
        .evidence_line(facts.profile_source(sampled.profile), format!("{share} of CPU time in write, below write_null where it shows"))
        .file();
}
