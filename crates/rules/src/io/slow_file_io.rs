//! # slow-file-io
//!
//! ## What it is
//! Calls on local files (open, stat, read, write, unlink) take 10 ms and more, fsync 50 ms and more.
//!
//! ## Why it is slow
//! A call that is served from memory takes microseconds. One that takes 10 ms has waited for a device, for
//! another's writes in the journal, for a lock on the directory, for free memory (throttled write-back), or for
//! a server behind the mount. The calls say which files; the device's own figures say why.
//!
//! ## Example
//! ```text
//! read(7, "\0\0\0"..., 4096) = 4096 <0.024871>
//! unlink("/var/spool/x/1017") = 0 <0.110032>
//! ```
//!
//! ## What to do instead
//! Look at the device (`iostat -x 1`) and the mount (`findmnt -T FILE`). Fewer and larger calls, data on a
//! faster device or in memory, writes spread out, huge directories split up.
//!
//! ## When it is wrong
//! The first touch of a cold cache is slow once: a capture of a start after boot shows it, the next one does
//! not. What a call moves is taken off at 10 MB/s: a large read of a slow disk is as slow as its size. Waiting for a pipe, socket or terminal is not counted. An fsync waits for the device by request: what a disk takes for
//! it is not counted, and many of them for little data have a rule of their own (fsync-per-write).

use super::devices;
use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::guards::{self, Share};
use crate::{figures, words};
use whyslow_facts::Facts;
use whyslow_facts::folds::slow_files::{SlowFile, SlowFiles, needs_no_device};
use whyslow_facts::host::Thing;
use whyslow_model::syscall::Class;
use whyslow_model::{Entity, Measurement, Metric, Nanos, SaturatingSum, Severity, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "slow-file-io",
    group: "io",
    summary: "calls on local files take 10 ms and more",
    source: include_str!("slow_file_io.rs"),
    needs: &[Need::Either(&[Need::Calls, OF_FILES]), Need::Either(&[Need::Durations, OF_FILES])],
    check,
};

/// Tables of files with their times, as fileslower writes them.
const OF_FILES: Need = Need::Figures(
    &[Metric::CallMax, Metric::CallTotal],
    "how long calls on files took",
    "bcc: fileslower 10 > slow.txt",
);
/// Slow calls that take less than this in all are nothing that a person would notice (response-time limit of
/// 0.1 s: Nielsen, Usability Engineering, 1993).
const NOTICEABLE: Nanos = Nanos::new(100_000_000);
/// A few slow calls are a cold cache or a busy machine; fewer than [`guards::FEW_TURNS`] are a cause only where they
/// take this long in all, which makes a person wait (the same source's limit for an uninterrupted thought).
const LONG: Nanos = Nanos::from_secs(1);
/// Fewer stalls in calls that need no device say nothing of the machine.
const FEW_STALLS: u64 = 3;
/// Where calls that need no device are slow at least this often for each slow one on a file (both as parts of
/// their kind), the machine or the tracer is what is slow.
const STALLS_PER_SLOW: f64 = 0.5;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    if facts.world.calls > 0 {
        of_calls(facts, out);
    } else {
        of_figures(facts, out);
    }
}

/// Files that another tool found slow.
#[gated]
fn of_figures(facts: &Facts, out: &mut Findings<'_>) {
    let files = facts.host.things_that(|of| matches!(of, Entity::File { .. }));
    let time = |thing: &Thing, metric| thing.current(metric).map(|ns| Nanos::new(ns.max(0.0) as u64));
    let mut slow: Vec<(Nanos, Nanos, &Entity, &Thing)> = files
        .into_iter()
        .filter_map(|(of, thing)| {
            Some((time(thing, Metric::CallTotal)?, time(thing, Metric::CallMax)?, of, thing))
        })
        .filter(|(total, longest, ..)| *longest >= SlowFiles::SLOW && *total >= NOTICEABLE)
        .collect();
    slow.sort_by(|a, b| b.0.or_zero().cmp(&a.0.or_zero()).then(a.2.cmp(b.2)));
    for (total, longest, of, thing) in slow {
        let calls = thing.current(Metric::CallCount).map(|count| count as u64);
        let count = calls.map_or(String::new(), |count| format!("{} in ", words::plural(count, "call")));
        let total = Measurement::time("time", total).at_least(NOTICEABLE.or_zero() as f64);
        let longest = Measurement::time("longest", longest).at_least(SlowFiles::SLOW.or_zero() as f64);
        out.report(Share::unknown(), format!("{of}: {count}{total}, the longest {longest}"))
            .measured_all(calls.map(|calls| Measurement::count("calls", calls)))
            .measured_all([total, longest])
            .subject(figures::subject(facts, of))
            .cause("From memory such a call takes microseconds: these waited for a device, a journal, a lock on the directory, or a server behind the mount. How much of the program's time that is, this table does not tell.")
            .fix("see what the device does meanwhile: iostat -x 1, cat /proc/pressure/io; and what the program waits for: whyslow record -p PID")
            .verify("bcc: fileslower 10, ext4slower 10 -p PID, biosnoop")
            .evidence_of(of, &[Metric::CallCount, Metric::CallTotal, Metric::CallMax])
            .file();
    }
}

#[gated]
fn of_calls(facts: &Facts, out: &mut Findings<'_>) {
    if facts.hides_class(Class::File) && facts.hides_class(Class::Descriptor) {
        return out.not_judged("calls on files", facts.capture.retake());
    }
    let mut all = facts.slow_files.by_time();
    all.retain(|slow| !is_fifo(facts, slow));
    let total = all.iter().map(|slow| slow.calls.total_ns).saturating_sum();
    let worst: Vec<&SlowFile> =
        all.into_iter().filter(|slow| slow.calls.total_ns >= NOTICEABLE.or_zero()).collect();
    let several = worst.len() > 1;
    let stalls = machine_stalls(facts);
    for slow in worst {
        let asker = (!slow.shared && slow.tid != 0).then_some(slow.tid);
        let share = guards::share_of_ns(facts, asker, slow.calls.total(), slow.calls.count);
        let kinds: Vec<String> = slow
            .by_syscall
            .iter()
            .map(|(syscall, count)| format!("{} {}", words::count(*count), facts.name_of(*syscall)))
            .collect();
        let syscalls: Vec<&str> =
            slow.by_syscall.iter().map(|(syscall, _)| facts.name_of(*syscall)).collect();
        let time = Measurement::time("time", slow.calls.total()).at_least(NOTICEABLE.or_zero() as f64);
        let longest =
            Measurement::time("longest", slow.calls.max()).at_least(SlowFiles::SLOW.or_zero() as f64);
        let title = format!(
            "{}: {} took {} and more, {time} in all (longest {longest})",
            slow.name,
            words::plural(slow.calls.count, "call"),
            SlowFiles::SLOW,
        );
        let all = several.then(|| Measurement::time("time_of_all_slow_files", Nanos::new(total)));
        let together = all.as_ref().map_or(String::new(), |all| format!(" All slow files together: {all}."));
        let mut subject = Subjects::thread(facts, slow.tid);
        if slow.shared {
            subject.tid = None;
        }
        let passing = slow.calls.count < guards::FEW_TURNS && slow.calls.total() < LONG;
        let most = if passing || stalls.is_some() { Severity::Notice } else { Severity::Critical };
        out.report(share, title)
            .measured(Measurement::count("calls", slow.calls.count))
            .measured_all([time, longest])
            .measured_all(all)
            .measured_all(stalls.clone())
            .measured_all(devices::beneath_figures(facts))
            .at_most(most)
            .subject(Subject { path: Some(slow.name.clone()), syscall: Some(syscalls.join(", ")), ..subject })
            .confidence(if stalls.is_none() { 0.8 } else { 0.4 })
            .cause(format!(
                "From memory such a call takes microseconds: these ({}) waited for a device, a journal, a lock on the \
                 directory, or a server behind the mount.{}{together}{}",
                kinds.join(", "),
                stalls_words(stalls.as_ref()),
                devices::beneath(facts),
            ))
            .fix(format!("see what it is: findmnt -T {} (a network or FUSE mount?), iostat -x 1 (await and queue of its device), cat /proc/pressure/io", example(&slow.name)))
            .fix("reads: keep the data in memory, read ahead (posix_fadvise WILLNEED), larger reads; writes: fewer and larger, not in the request's path")
            .fix("temporary files: put them on tmpfs (TMPDIR=/dev/shm); a directory of 100,000 files and more: split it up")
            .verify("bcc: fileslower 10, ext4slower 10 -p PID, biosnoop; without: strace -f -y -T -p PID | awk -F'[<>]' '$(NF-1) > 0.01'")
            .saving(slow.calls.total())
            .evidence_all(slow.exemplars.iter())
            .file();
    }
}

/// True for what turned out to be a FIFO: who reads from one waits for its writer.
fn is_fifo(facts: &Facts, slow: &SlowFile) -> bool {
    facts.world.files.iter().any(|(_, file)| file.fifo && *file.path == *slow.name)
}

/// Slow calls that need no device, where they are slow as well.
#[gated]
fn machine_stalls(facts: &Facts) -> Option<Measurement> {
    let stalls = facts.slow_files.stalls.count;
    let slow = facts.slow_files.by_time().iter().map(|slow| slow.calls.count).saturating_sum();
    let (mut free, mut on_files) = (0u64, 0u64);
    for (_, thread) in facts.world.threads.iter() {
        for (syscall, stats) in thread.by_syscall.iter() {
            let info = syscall.info();
            if needs_no_device(info.name) {
                free = free.saturating_add(stats.count);
            } else if matches!(info.class, Class::File | Class::Descriptor) {
                on_files = on_files.saturating_add(stats.count);
            }
        }
    }
    if stalls < FEW_STALLS || (stalls * on_files) as f64 <= STALLS_PER_SLOW * (slow * free) as f64 {
        return None;
    }
    Some(Measurement::count("slow_calls_without_a_device", stalls).at_least(FEW_STALLS as f64))
}

fn stalls_words(stalls: Option<&Measurement>) -> String {
    stalls.map_or(String::new(), |stalls| {
        format!(
            " But {stalls} calls that need no device (fcntl, lseek, signal masks) took {} and more as well: more likely the machine had \
             no CPU to give, or the tracer was slow (vmstat 1: r above the number of CPUs, or st).",
            SlowFiles::SLOW
        )
    })
}

/// A path that a command can take: a pattern's directory.
fn example(name: &str) -> &str {
    let fixed = name.split('{').next().unwrap_or(name);
    if fixed.len() == name.len() {
        name
    } else {
        fixed.rsplit_once('/').map_or("/", |(directory, _)| directory)
    }
}
