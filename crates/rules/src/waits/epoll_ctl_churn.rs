//! # epoll-ctl-churn
//!
//! ## What it is
//! Descriptors are added to an epoll set and taken out again for each turn of the loop, or changed for each event.
//!
//! ## Why it is slow
//! epoll is quick because the kernel keeps the list from one wait to the next. Who makes it anew pays a call for each descriptor and each
//! turn, with a lock, a tree and an entry in the queue of what is waited for: more than poll takes for the same list.
//!
//! ## Example
//! ```text
//! epoll_ctl(4, EPOLL_CTL_ADD, 17, {events=EPOLLIN, data={u32=17, u64=17}}) = 0 <0.000002>
//! epoll_wait(4, [{events=EPOLLIN, data={u32=17, u64=17}}], 512, 10) = 1 <0.000004>
//! epoll_ctl(4, EPOLL_CTL_DEL, 17, NULL) = 0 <0.000002>
//! ```
//!
//! ## What to do instead
//! Add a connection once, when it comes, and take it out when it ends (a close does that). Ask for EPOLLOUT only while something waits
//! to be sent. EPOLLET where events are taken until nothing is left; EPOLLONESHOT costs a call for each event.
//!
//! ## When it is wrong
//! A server of short connections adds and removes each once. That is a part of the work, and below the part that is told here. Some loops ask
//! for room anew around each request: with fewer than four changes for each other call it is a notice.

use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::guards::{self, Share};
use crate::words;
use whyslow_facts::{Facts, ThreadFacts};
use whyslow_model::{CallStats, Measurement, SampleKind, SaturatingSum, Severity, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "epoll-ctl-churn",
    group: "waits",
    summary: "the list of an epoll set is made anew for each turn of the loop",
    source: include_str!("epoll_ctl_churn.rs"),
    needs: &[Need::Counts],
    check,
};

/// The call.
const CHANGE: &str = "epoll_ctl";
/// Calls that wait for events.
const WAITS: [&str; 3] = ["epoll_wait", "epoll_pwait", "epoll_pwait2"];
/// From this part of the thread's calls on: redis-benchmark and the like ask anew for room around each of their requests (2.5 changes for
/// each read and write, 66 % of the calls), which is how their loops are made.
const MOST_CALLS: f64 = 0.8;
/// Changes for each wait: two are a connection that comes and goes for each.
const CHANGES_PER_WAIT: f64 = 4.0;

/// A thread that changes the list.
struct Churn<'a> {
    thread: &'a ThreadFacts,
    changes: CallStats,
    waits: u64,
    all: u64,
}

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let threads = facts.world.threads.iter().map(|(_, thread)| thread);
    let mut found: Vec<Churn<'_>> = threads.filter_map(churn).collect();
    found.sort_by_key(|churn| (std::cmp::Reverse(churn.changes.count), churn.thread.tid));
    for churn in found {
        report(facts, out, &churn);
    }
}

#[gated]
fn churn(thread: &ThreadFacts) -> Option<Churn<'_>> {
    let mut churn = Churn { thread, changes: CallStats::default(), waits: 0, all: 0 };
    for (call, stats) in thread.all_calls() {
        let name = call.info().name;
        churn.all = churn.all.saturating_add(stats.count);
        if name == CHANGE {
            churn.changes.merge(stats);
        } else if WAITS.contains(&name) {
            churn.waits = churn.waits.saturating_add(stats.count);
        }
    }
    let changes = churn.changes.count;
    let is_churn = changes >= guards::FEW_CALLS
        && changes as f64 >= CHANGES_PER_WAIT * churn.waits as f64
        && changes as f64 >= guards::STORM_CALL_SHARE * churn.all as f64;
    is_churn.then_some(churn)
}

/// The part of the CPU time by samples, where there are any: the calls are short, and the kernel's way in and out is not in their times.
#[gated]
fn share(facts: &Facts, churn: &Churn<'_>) -> Share {
    let Churn { thread, changes, .. } = churn;
    let told = guards::share_of_storm(facts, Some(thread.tid), changes.total(), changes.count);
    let calls = facts.samples.system_calls(SampleKind::OnCpu, thread.process);
    let ns = calls.iter().filter(|call| call.name == CHANGE).map(|call| call.weight.ns).saturating_sum();
    let wall = thread.sched.as_deref().and_then(|time| time.wall().get()).filter(|wall| *wall > 0);
    match wall.map(|wall| (ns as f64 / wall as f64).min(1.0)) {
        Some(part) if told.value.is_none_or(|value| value < part) => {
            Share::of_time(part, format!("the life of thread {}", thread.tid))
        }
        _ => told,
    }
}

#[gated]
fn report(facts: &Facts, out: &mut Findings<'_>, churn: &Churn<'_>) {
    let Churn { thread, changes, waits, all } = churn;
    let share = share(facts, churn);
    let count = Measurement::count("changes", changes.count).at_least(guards::FEW_CALLS as f64);
    let part = changes.count as f64 / (*all).max(1) as f64;
    let most = if part >= MOST_CALLS { Severity::Critical } else { Severity::Notice };
    let part = Measurement::share("share_of_calls", part).at_least(guards::STORM_CALL_SHARE);
    let each = (*waits > 0).then(|| {
        let each = changes.count as f64 / *waits as f64;
        Measurement::number("changes_per_wait", each).at_least(CHANGES_PER_WAIT)
    });
    let for_each = each.as_ref().map_or(String::new(), |each| format!(", {each} for each wait"));
    let of_calls = format!(" and {part} of the thread's calls");
    out.report(
        share,
        format!(
            "thread {} changes the list of an epoll set {} times{for_each}{of_calls}",
            thread.tid,
            words::count(changes.count),
        ),
    )
    .at_most(most)
    .subject(Subject { syscall: Some(CHANGE.to_string()), ..Subjects::thread(facts, thread.tid) })
    .cause("Descriptors are added and taken out again, or changed, around each wait. The kernel would keep the list.")
    .measured(count)
    .measured_all(each)
    .measured(part)
    .measured(Measurement::time("time", changes.total()))
    .fix("code: EPOLL_CTL_ADD once for each connection; a close takes it out")
    .fix("code: EPOLLOUT only while something waits to be sent, and no EPOLLONESHOT where one thread serves the set")
    .verify("strace -f -c -e trace=epoll_ctl,epoll_wait -p PID   (after: few epoll_ctl)")
    .saving(changes.total())
    .evidence_line(
        facts.capture.first_name().to_string(),
        format!("thread {}: {} epoll_ctl in {}", thread.tid, words::count(changes.count), changes.total()),
    )
    .file();
}
