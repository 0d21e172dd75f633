//! # filter-hides
//!
//! ## What it is
//! The capture shows only one kind of call: it was taken with a filter (`strace -e`), or is an excerpt.
//!
//! ## Why it is slow
//! It is not: but what a filter leaves out cannot be judged, and shares of all calls or of the time are unknown. A
//! trace of `stat` alone says nothing about the writes beside it.
//!
//! ## Example
//! ```text
//! $ strace -T -e stat -p 4711
//! stat("/etc/localtime", {st_mode=S_IFREG|0644, st_size=405, ...}) = 0 <0.000021>
//! ```
//!
//! ## What to do instead
//! Take a short capture without `-e`, or a table of all calls (`strace -f -c`) beside it.
//!
//! ## When it is wrong
//! A program that loops in one or two calls looks the same. A capture without a filter of that loop shows so. Reads and
//! writes that take turns on a socket are whole by themselves, and no sign of a filter.

use crate::engine::{Findings, Need, Rule};
use crate::gate::gated;
use crate::words;
use whyslow_facts::Facts;
use whyslow_model::Measurement;
use whyslow_model::syscall::{Class, PathArg};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "filter-hides",
    group: "capture",
    summary: "a filter or excerpt leaves out most kinds of calls",
    source: include_str!("filter_hides.rs"),
    needs: &[Need::Calls],
    check,
};

/// Fewer calls are a single line that somebody asks about.
const MIN_CALLS: u64 = 5;
/// Files opened with no close and no read among the calls: no program does that.
const OPENS_ALONE: u64 = 10;
/// Names listed.
const NAMED: usize = 4;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    if facts.capture.is_recording()
        || facts.total_calls() < MIN_CALLS
        || facts.is_exchange()
        || !(facts.seems_filtered() || only_paths(facts))
    {
        return;
    }
    let mut shown: Vec<String> = facts.syscalls().iter().map(|(name, _)| name.clone()).collect();
    let others = shown.len().saturating_sub(NAMED);
    shown.truncate(NAMED);
    let others = (others > 0).then(|| Measurement::count("other_syscalls", others as u64));
    let names = match &others {
        None => shown.join(", "),
        Some(others) => format!("{} and {others} more of their kind", shown.join(", ")),
    };
    let hidden: Vec<&str> = [
        (Class::File, "files"),
        (Class::Descriptor, "reads and writes"),
        (Class::Network, "the network"),
        (Class::Wait, "waits"),
        (Class::Sync, "locks"),
        (Class::Process, "processes"),
    ]
    .into_iter()
    .filter(|(class, _)| facts.hides_class(*class) || only_paths(facts) && *class != Class::File)
    .map(|(_, name)| name)
    .collect();
    let mut found =
        out.capture(format!("Only {names} in the capture: a filter (-e) or an excerpt hides the rest"));
    if let Some(source) = facts.capture.sources.iter().find(|source| source.events > 0) {
        found = found.evidence_line(
            source.name.clone(),
            format!(
                "{} in {}, all of them {names}",
                words::plural(facts.total_calls(), "call"),
                words::plural(source.lines, "line")
            ),
        );
    }
    if only_paths(facts) {
        found = found.measured(Measurement::count("opens", opens(facts)).at_least(OPENS_ALONE as f64));
    }
    found
        .measured_all(others)
        .measured(Measurement::count("calls", facts.total_calls()).at_least(MIN_CALLS as f64))
        .cause(format!("All {} are of one kind. Nothing can be said about {}, and a share of calls is a share of what the filter let through.", words::plural(facts.total_calls(), "call"), hidden.join(", ")))
        .fix("take the capture again without -e: strace -f -ttT -y -s 256 -o trace.st -p PID")
        .fix("or take a table of all calls beside it: strace -f -c -w -p PID")
        .verify("timeout 5 strace -f -c -p PID   (lists all kinds of calls that the program makes)")
        .file();
}

/// Calls that take a path and nothing else, with files opened among them: `-e trace=file`.
#[gated]
fn only_paths(facts: &Facts) -> bool {
    let is_path = |syscall: whyslow_model::Syscall| syscall.info().path != PathArg::None;
    let mut kinds = facts.world.threads.iter().flat_map(|(_, thread)| thread.by_syscall.iter());
    kinds.all(|(syscall, _)| is_path(syscall)) && opens(facts) >= OPENS_ALONE
}

fn opens(facts: &Facts) -> u64 {
    facts.calls_of(&["open", "openat"])
}
