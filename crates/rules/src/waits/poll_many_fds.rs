//! # poll-many-fds
//!
//! ## What it is
//! A program hands hundreds of descriptors and more to poll or select, for each event anew.
//!
//! ## Why it is slow
//! Each call copies the whole list into the kernel, looks at every descriptor in it, and puts itself on the list of each that has
//! nothing; when one is ready it takes itself off all of them and copies the list back. That is some 50 to 100 ns a descriptor: with
//! 5,000 connections half a millisecond for each event, most of it for connections that are idle.
//!
//! ## Example
//! ```text
//! poll([{fd=4, events=POLLIN}, {fd=5, events=POLLIN}, ...], 5120, 1000) = 1 ([{fd=77, revents=POLLIN}]) <0.000610>
//! ```
//!
//! ## What to do instead
//! epoll: the kernel keeps the list, and a call costs what is ready. Libraries have it behind the same interface (Python `selectors`,
//! libevent, libuv, Java NIO, Ruby nio4r). select has a bound of 1,024 besides.
//!
//! ## When it is wrong
//! A list that is polled once a second costs nothing, and is a notice at most.

use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::guards::{self, Share};
use whyslow_facts::Facts;
use whyslow_facts::folds::wide_polls::{WidePollFacts, WidePolls};
use whyslow_model::{Measurement, Nanos, SampleKind, SaturatingSum, Severity, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "poll-many-fds",
    group: "waits",
    summary: "hundreds of descriptors are handed to poll or select for each event",
    source: include_str!("poll_many_fds.rs"),
    needs: &[Need::AnyOf(&POLLS)],
    check,
};

/// Calls that take a list of descriptors.
const POLLS: [&str; 4] = ["poll", "ppoll", "select", "pselect6"];
/// Fewer such calls are a start.
const MIN_POLLS: u64 = 20;
/// Most polls of the thread are of that kind.
const MOST_OF_THEM: f64 = 0.5;
/// Descriptors from which on a poll costs some tens of microseconds at least.
const MANY: u64 = 512;
/// Such polls a second, without a tracer: at 50 ns a descriptor and some thousands of them they take a hundredth of a CPU from here on. Fewer take as
/// much where samples say so.
const POLLS_PER_S: f64 = 10.0;
const LEAST_OF_CPU: f64 = 0.01;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let rows = facts.wide_polls.rows.iter();
    let mut found: Vec<&WidePolls> = rows.filter(|row| is_wide(facts, row)).collect();
    found.sort_by_key(|row| (std::cmp::Reverse(row.descriptors), row.tid));
    for row in found {
        report(facts, out, row);
    }
}

#[gated]
fn is_wide(facts: &Facts, row: &WidePolls) -> bool {
    let wide = times(facts, row);
    let often = facts.pace.untraced(facts.window.per_second(wide)).is_none_or(|rate| rate >= POLLS_PER_S);
    let often = often
        || !facts.pace.stop.is_known() && of_cpu_time(facts, row).is_some_and(|part| part >= LEAST_OF_CPU);
    wide >= MIN_POLLS && row.mean() >= MANY && row.wide as f64 >= MOST_OF_THEM * row.polls as f64 && often
}

/// How often the thread makes such calls: where most are only counted, they are like those of which the descriptors are known.
fn times(facts: &Facts, row: &WidePolls) -> u64 {
    let counted = facts.world.threads.thread_of(row.tid).filter(|thread| thread.process == row.process);
    let polls = counted.map_or(0, |thread| {
        let polls = thread.all_calls().filter(|(call, _)| POLLS.contains(&call.info().name));
        polls.map(|(_, stats)| stats.count).saturating_sum()
    });
    row.wide.max((polls as f64 * row.wide as f64 / row.polls.max(1) as f64) as u64)
}

/// The part of the process's CPU time that is in polls, by its samples; `None` where there is none.
fn of_cpu_time(facts: &Facts, row: &WidePolls) -> Option<f64> {
    let calls = facts.samples.system_calls(SampleKind::OnCpu, row.process);
    let polls = calls.iter().filter(|call| POLLS.contains(&call.name)).map(|call| call.weight.ns);
    let all = facts.samples.total(SampleKind::OnCpu, row.process, None).ns;
    (all > 0).then(|| (polls.saturating_sum() as f64 / all as f64).min(1.0))
}

/// What looking at a descriptor takes at least, ns: a look-up of the file and a call of its poll function (fs/select.c, do_pollfd).
const EACH: u64 = 50;

/// The part of the process's CPU time that is in these calls, by its samples. Without, what looking at the lists takes at least of the
/// thread's time: how much of a call is waiting does not show.
#[gated]
fn share(facts: &Facts, row: &WidePolls, who: &str) -> Share {
    match of_cpu_time(facts, row) {
        None => {
            let looked = Nanos::new(row.descriptors.saturating_mul(EACH));
            guards::share_of_ns(facts, Some(row.tid), looked, row.wide)
        }
        Some(0.0) => Share::unknown(),
        Some(part) => Share::of_cpu_time(part, format!("the CPU time of {who}")),
    }
}

#[gated]
fn report(facts: &Facts, out: &mut Findings<'_>, row: &WidePolls) {
    let subject = Subjects::thread(facts, row.tid);
    let who = Subjects::words(&subject);
    let share = share(facts, row, &who);
    let times = times(facts, row);
    let polls = Measurement::count("polls", times).at_least(MIN_POLLS as f64);
    let each = Measurement::count("descriptors_per_poll", row.mean()).at_least(MANY as f64);
    let part = Measurement::share("share_of_polls", row.wide as f64 / row.polls.max(1) as f64)
        .at_least(MOST_OF_THEM);
    let rate = facts.window.per_second(times);
    let rate =
        rate.map(|rate| guards::passed(Measurement::per_second("polls_per_second", rate), POLLS_PER_S));
    let often = rate.as_ref().map_or(String::new(), |rate| format!(", {rate} per second"));
    let by_samples = share.value.is_some().then(|| share.figure());
    out.report(share, format!("{who} polls {each} descriptors at a time, {polls} times{often}"))
        .at_most(Severity::Critical)
        .subject(Subject { syscall: Some("poll".to_string()), ..subject })
        .cause(format!(
            "Each call hands the whole list to the kernel, which looks at every descriptor in it, though few are ready. From {} descriptors on a call costs more than most events.",
            WidePollFacts::WIDE
        ))
        .measured_all([polls, each, part])
        .measured_all(rate)
        .measured_all(by_samples)
        .fix("code: epoll (Python selectors.DefaultSelector, Java NIO, libevent, libuv): the kernel keeps the list, and a call costs what is ready")
        .fix("code: connections that have been silent for long in a list of their own, which is polled seldom")
        .verify("perf top -p PID (do_sys_poll, do_select and the poll functions of sockets fall); strace -c -f -p PID")
        .evidence(row.line.as_ref())
        .file();
}
