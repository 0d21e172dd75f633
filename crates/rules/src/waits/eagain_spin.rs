//! # eagain-spin
//!
//! ## What it is
//! A thread tries a non-blocking descriptor again and again and gets EAGAIN each time, without waiting in between;
//! or its poll watches a descriptor for "can be written" while it has nothing to write.
//!
//! ## Why it is slow
//! EAGAIN means: nothing yet, wait until poll says so. Trying at once burns a whole CPU and takes it from those who
//! would make the data. A socket with room in its buffer can always be written: EPOLLOUT that stays registered
//! after the answer went out makes each `epoll_wait` return at once.
//!
//! ## Example
//! ```text
//! recvfrom(5, 0x7ffe5a, 4096, 0, NULL, NULL) = -1 EAGAIN (Resource temporarily unavailable) <0.000005>
//! recvfrom(5, 0x7ffe5a, 4096, 0, NULL, NULL) = -1 EAGAIN (Resource temporarily unavailable) <0.000005>
//! ```
//!
//! ## What to do instead
//! Read until EAGAIN, then wait in epoll. Register EPOLLOUT only when a write got EAGAIN, and take it out again as soon as
//! the rest is written. Where nothing else is to be done, use a blocking descriptor.
//!
//! ## When it is wrong
//! One EAGAIN at the end of each drain is how edge-triggered loops work, and is not counted. Programs that poll by
//! design on a core of their own (DPDK, some trading systems, spin-then-park locks) want it so.

use super::counted_tries::{self, Tries};
use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::{callers, guards, words};
use whyslow_facts::Facts;
use whyslow_facts::folds::again::AgainSpin;
use whyslow_facts::folds::readiness::ReadySpin;
use whyslow_model::{Measurement, SaturatingSum, Severity, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "eagain-spin",
    group: "waits",
    summary: "a thread tries a descriptor that is not ready again and again without waiting",
    source: include_str!("eagain_spin.rs"),
    needs: &[
        Need::Either(&[Need::Calls, Need::Sums]),
        Need::Either(&[Need::AnyOf(&READS_AND_POLLS), Need::Sums]),
    ],
    check,
};

/// Calls that can show it.
const READS_AND_POLLS: [&str; 12] = [
    "read",
    "write",
    "recvfrom",
    "recvmsg",
    "recv",
    "sendto",
    "sendmsg",
    "writev",
    "accept4",
    "accept",
    "epoll_wait",
    "poll",
];

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    check_sums(facts, out);
    let mut tries: Vec<&AgainSpin> = facts
        .again
        .spins
        .iter()
        .filter(|spin| {
            guards::is_spin(facts, &spin.laps, &guards::share_of_laps(facts, spin.tid, &spin.laps))
        })
        .filter(|spin| !polls_without_waiting(facts, spin))
        .collect();
    tries.sort_by_key(|spin| std::cmp::Reverse((spin.laps.time_ns, spin.laps.turns)));
    for spin in tries {
        report_tries(facts, out, spin);
    }
    let mut writable: Vec<&ReadySpin> = facts
        .readiness
        .spins
        .iter()
        .filter(|spin| spin.only_writable())
        .filter(|spin| {
            guards::is_spin(facts, &spin.laps, &guards::share_of_laps(facts, spin.tid, &spin.laps))
        })
        .collect();
    if facts.seems_filtered() && !writable.is_empty() {
        out.not_judged(
            "calls that write to the descriptors",
            "strace -f -ttT -y -s 256 -o trace.st -p PID   (without -e)",
        );
        return;
    }
    writable.sort_by_key(|spin| std::cmp::Reverse((spin.laps.time_ns, spin.laps.turns)));
    for spin in writable {
        report_writable(facts, out, spin);
    }
}

/// Its loop polls with a timeout of 0: that is the cause, and reported as such.
#[gated]
fn polls_without_waiting(facts: &Facts, spin: &AgainSpin) -> bool {
    let empty: u64 = facts
        .readiness
        .zero_timeouts
        .iter()
        .filter(|row| row.tid == spin.tid)
        .map(|row| row.laps.turns)
        .saturating_sum();
    empty * 4 >= spin.laps.turns
}

/// Sums of calls tell neither the error nor the descriptor, but that nearly all tries fail, and how fast.
#[gated]
fn check_sums(facts: &Facts, out: &mut Findings<'_>) {
    let known = |tid| facts.again.spins.iter().any(|spin| spin.tid == tid);
    let found = counted_tries::failing(facts).into_iter().filter(|tries| !known(tries.tid));
    for found in found {
        let figures = found.figures();
        let Tries { tid, syscall, calls: tries, per_second, share } = found;
        let call = facts.name_of(syscall);
        let site = callers::of_calls(facts, tid, &[call]);
        let title = format!(
            "thread {tid}: {call} fails at once {} of {} times, {} per second{}",
            words::count(tries.errors),
            words::count(tries.count),
            words::quantity(per_second),
            callers::words(site.as_ref())
        );
        let function = callers::function(site.as_ref());
        let subject = Subject { syscall: Some(call.to_string()), function, ..Subjects::thread(facts, tid) };
        let pid = subject.pid.map_or("PID".to_string(), |pid| pid.to_string());
        out.report(share, title)
            .measured_all(figures)
            .subject(subject)
            .cause(format!(
                "The thread does not wait for the descriptor to become ready but tries again at once. The calls took {}. Calls were only counted: \
                 the error is not recorded, but of {call} the one that comes this often is EAGAIN.",
                tries.total()
            ))
            .fix(WAIT)
            .fix(BLOCK)
            .verify(format!("strace -f -y -e trace={call} -p {pid}   (names the descriptor and the error; after: few errors)"))
            .saving(tries.total())
            .evidence_line(
                facts.capture.first_name(),
                format!("thread {tid}: {} {call}, {} errors, {}", words::count(tries.count), words::count(tries.errors), tries.total()),
            )
            .file();
    }
}

/// The remedy in an event loop.
const WAIT: &str = "code: after EAGAIN go back to epoll_wait/poll with a timeout of -1 (or until the next timer) and try again when it says so";
/// The remedy for a thread with one descriptor.
const BLOCK: &str = "code: where the thread has nothing else to do, clear O_NONBLOCK (or drop MSG_DONTWAIT) and let the call block";

fn report_tries(facts: &Facts, out: &mut Findings<'_>, spin: &AgainSpin) {
    let Some(main) = spin.tried.iter().max_by_key(|tried| tried.times) else {
        return;
    };
    let call = facts.name_of(main.syscall);
    let what = match &main.target {
        Some(target) => format!("fd {} ({target})", main.fd),
        None => format!("fd {}", main.fd),
    };
    let others = spin.tried.len() - 1;
    let more = if others > 0 {
        format!(" and {}", words::plural(others as u64, "other descriptor"))
    } else {
        String::new()
    };
    let site = callers::of_calls(facts, spin.tid, &[call]);
    let at = callers::words(site.as_ref());
    let title = format!("{call} on {what}{more} finds nothing ready (EAGAIN) {}{at}", spin.laps.often());
    let polled = if spin.polls * 2 >= spin.laps.turns {
        "A poll in between says at once that there is something, yet there is nothing: another thread was faster, or the poll has no timeout"
    } else {
        "The thread does not wait for the descriptor to become ready but tries again at once"
    };
    let time = match spin.laps.time().get() {
        Some(_) => format!(" That took {} of thread {}.", spin.laps.time(), spin.tid),
        None => " The capture has no times, so how fast it tries is not known.".to_string(),
    };
    let subject = Subject {
        fd: Some(main.fd),
        peer: main.target.clone(),
        syscall: Some(call.to_string()),
        function: callers::function(site.as_ref()),
        ..Subjects::thread(facts, spin.tid)
    };
    let pid = subject.pid.map_or("PID".to_string(), |pid| pid.to_string());
    let most = if spin.laps.time().is_known() { Severity::Critical } else { Severity::Notice };
    let share = guards::share_of_laps(facts, spin.tid, &spin.laps);
    let figures = guards::spin_figures(facts, &spin.laps, &share);
    out.report(share, title)
        .measured_all(figures)
        .measured_all((others > 0).then(|| Measurement::count("other_descriptors", others as u64)))
        .measured(Measurement::count("polls", spin.polls))
        .at_most(most)
        .confidence(if spin.laps.time().is_known() { 0.9 } else { 0.4 })
        .subject(subject)
        .cause(format!("{polled}.{time}"))
        .fix(WAIT)
        .fix(BLOCK)
        .fix("several threads or processes on one listening socket: EPOLLEXCLUSIVE or SO_REUSEPORT, so that one of them is woken")
        .verify(format!("perf trace -s -p {pid} -- sleep 5   (before and after: errors of {call} fall), or strace -f -c -p {pid}"))
        .saving(spin.laps.time())
        .evidence_all(spin.laps.exemplars.iter())
        .file();
}

fn report_writable(facts: &Facts, out: &mut Findings<'_>, spin: &ReadySpin) {
    let poll = facts.name_of(spin.syscall);
    let site = callers::of_calls(facts, spin.tid, &[poll]);
    let title = format!(
        "{poll} returns {} as writable ({}) {}, and nothing is written{}",
        spin.named(),
        spin.events(),
        spin.laps.often(),
        callers::words(site.as_ref())
    );
    let time = match spin.laps.time().get() {
        Some(_) => format!(" That took {} of thread {}.", spin.laps.time(), spin.tid),
        None => " The capture has no times, so how fast it goes round is not known.".to_string(),
    };
    let subject = Subject {
        fd: spin.ready.first().and_then(|ready| ready.fd),
        peer: spin.ready.first().and_then(|ready| ready.target.clone()),
        syscall: Some(poll.to_string()),
        function: callers::function(site.as_ref()),
        ..Subjects::thread(facts, spin.tid)
    };
    let pid = subject.pid.map_or("PID".to_string(), |pid| pid.to_string());
    let most = if spin.laps.time().is_known() { Severity::Critical } else { Severity::Warning };
    let share = guards::share_of_laps(facts, spin.tid, &spin.laps);
    let figures = guards::spin_figures(facts, &spin.laps, &share);
    out.report(share, title)
        .measured_all(figures)
        .at_most(most)
        .subject(subject)
        .cause(format!("A socket with room in its buffer is always writable, and it stays registered for writing while there is nothing to write: the poll cannot sleep.{time}"))
        .fix("code: register EPOLLOUT only after a write got EAGAIN; when the rest is written, EPOLL_CTL_MOD back to EPOLLIN")
        .fix("code: or use EPOLLET, which reports the change only")
        .verify(format!("perf trace -s -p {pid} -- sleep 5   (before and after: calls of {poll} fall to one an event), or top -H -p {pid}"))
        .saving(spin.laps.time())
        .evidence_all(spin.laps.exemplars.iter())
        .file();
}
