//! # event-loop-blocked
//!
//! ## What it is
//! The thread of an event loop (epoll) spends 50 ms or more between two polls, in one call or in code of its own, and when
//! it polls again others are waiting.
//!
//! ## Why it is slow
//! One thread serves all connections. While it computes, reads a slow file or asks a name server, nobody is
//! answered: the longest piece of work is everybody's latency.
//!
//! ## Example
//! ```text
//! 514 epoll_wait(3, [{events=EPOLLIN, data=...}], 1024, -1) = 1 <0.000011>
//! 514 fsync(9) = 0 <0.120113>
//! 514 epoll_wait(3, [{...}, {...}, {...}], 1024, -1) = 3 <0.000010>
//! ```
//!
//! ## What to do instead
//! Nothing that blocks in the loop: files, DNS and heavy work go to a pool of threads (run_in_executor, worker_threads, spawn_blocking).
//! Long computations in pieces. In Redis: SCAN for KEYS, UNLINK for DEL, no long scripts.
//!
//! ## When it is wrong
//! A worker that serves one client at a time polls only for the next one: as long as never two are ready after such a
//! turn, it is a notice. What the program signals itself by (eventfd, timerfd, signalfd) is nobody who waits. A loop that is slow because a tracer stops hundreds of its calls is none. Where several threads poll
//! one epoll (Go's runtime, tokio), another one takes over: nothing is said. On a machine that is short of CPUs a trace cannot
//! tell a turn's own code from waiting for one: a notice; a live recording tells. The function that is named is the one in which the thread
//! computes most: of several, the long turns may be another's.

use super::lock_holder;
use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::{callers, guards, words};
use whyslow_facts::Facts;
use whyslow_facts::folds::loops::{Blocker, EventLoop, Loops};
use whyslow_model::{Measurement, Nanos, SampleKind, Severity, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "event-loop-blocked",
    group: "waits",
    summary: "an event loop does one thing for long, while others wait to be served",
    source: include_str!("event_loop_blocked.rs"),
    needs: &[Need::Durations, Need::Clock, Need::AnyOf(&["epoll_wait", "epoll_pwait", "epoll_pwait2"])],
    check,
};

/// Fewer polls are no loop.
const MIN_POLLS: u64 = 20;
/// Fewer such turns are a start or a rare event.
const MIN_TURNS: u64 = 3;
/// The part of those turns after which two or more were waiting.
const CROWDED: f64 = 0.30;
/// The part of the turns that may be the tracer's making.
const TRACERS: f64 = 0.50;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let mut found: Vec<&EventLoop> = facts.loops.rows.iter().filter(|row| is_blocked(facts, row)).collect();
    found.sort_by_key(|row| std::cmp::Reverse(row.blocked_ns));
    for row in found {
        let Some(worst) = row.blockers.iter().max_by_key(|blocker| blocker.ns) else { continue };
        let time = Nanos::new(row.blocked_ns);
        let share = guards::share_of_ns(facts, Some(row.tid), time, row.blocked);
        let crowded_share = row.several_waited as f64 / row.blocked.max(1) as f64;
        let crowded = crowded_share >= CROWDED;
        // A trace cannot tell the thread's own code from waiting for a CPU.
        let starved = facts.pace.starved && worst.call.is_none();
        let longest = Measurement::time("longest", Nanos::new(row.longest_ns));
        let in_worst = Measurement::time("time_of_main_blocker", Nanos::new(worst.ns));
        let site = match &worst.call {
            Some((syscall, _)) => callers::of_calls(facts, row.tid, &[facts.name_of(*syscall)]),
            None => callers::computing(facts, row.tid),
        };
        let title = format!(
            "the event loop of thread {} is blocked {}, up to {longest}, in {}",
            row.tid,
            words::plural(row.blocked, "time"),
            match &site {
                Some(site) if worst.call.is_none() => callers::short(site),
                Some(site) => format!("{}, called by {}", what(facts, worst), callers::short(site)),
                None => what(facts, worst),
            }
        );
        let others: Vec<String> = row
            .blockers
            .iter()
            .filter(|blocker| blocker.call != worst.call)
            .take(3)
            .map(|blocker| format!("{} ({})", what(facts, blocker), Nanos::new(blocker.ns)))
            .collect();
        let others =
            if others.is_empty() { String::new() } else { format!(" Also in {}.", others.join(", ")) };
        let subject = Subject {
            syscall: worst.call.as_ref().map(|(syscall, _)| facts.name_of(*syscall).to_string()),
            function: callers::function(site.as_ref()),
            ..Subjects::thread(facts, row.tid)
        };
        let pid = subject.pid.map_or("PID".to_string(), |pid| pid.to_string());
        let report = out
            .report(share, title)
            .measured(Measurement::count("blocked_turns", row.blocked).at_least(MIN_TURNS as f64))
            .measured(longest.at_least(Loops::BLOCKED.or_zero() as f64))
            .measured(Measurement::time("time", time))
            .measured(Measurement::count("polls", row.polls).at_least(MIN_POLLS as f64))
            .measured(Measurement::count("ready_descriptors", row.waiting))
            .measured(Measurement::share("share_with_several_ready", crowded_share))
            .measured(Measurement::share("tracer_share", tracer_share(facts, row)).at_most(TRACERS))
            .at_most(if crowded && !starved { Severity::Critical } else { Severity::Notice })
            .subject(subject)
            .cause(format!(
                "{} passed between two polls in turns of {} and more, and {} were ready at once after them: whoever they belong to waited that long. {in_worst} of it in {}.{others}",
                time,
                Loops::BLOCKED,
                words::plural(row.waiting, "descriptor"),
                what(facts, worst)
            ))
            .measured(in_worst)
            .fix(match worst.call {
                Some(_) => format!("code: {} out of the loop: in a pool of threads (Python loop.run_in_executor, Node's asynchronous call or worker_threads, Rust spawn_blocking)", what(facts, worst)),
                None if site.is_some() => format!("code: {} out of the loop: to a thread or a process, or cut into pieces that give the loop its turn", site.as_ref().map_or(String::new(), callers::short)),
                None => format!("code: find the code (py-spy dump --pid {pid}, perf record -t {}), move it to a thread or process, or cut it into pieces that give the loop its turn", row.tid),
            })
            .fix("code: limits for what one turn may do (Redis: SCAN instead of KEYS, UNLINK instead of DEL; parsers: a limit of size)")
            .fix("settings: several processes or loops behind one port (SO_REUSEPORT), so that one blocked loop does not stop all")
            .verify(format!("strace -ttT -e trace=epoll_wait,epoll_pwait -p {}: the gap between two polls, before and after; Python: PYTHONASYNCIODEBUG=1, Node: perf_hooks monitorEventLoopDelay", row.tid))
            .saving(time)
            .evidence(Some(&worst.longest));
        let code = |frames: &[&str]| !frames.is_empty();
        match lock_holder::stack(facts, SampleKind::OnCpu, row.process, row.tid, "runs", code) {
            Some(line) if worst.call.is_none() => {
                report.evidence_line(facts.recording_at(facts.window.start), line).file()
            }
            _ => report.file(),
        }
    }
}

#[gated]
fn is_blocked(facts: &Facts, row: &EventLoop) -> bool {
    !row.shared && row.polls >= MIN_POLLS && row.blocked >= MIN_TURNS && tracer_share(facts, row) <= TRACERS
}

/// The part of the blocked time that the tracer added.
fn tracer_share(facts: &Facts, row: &EventLoop) -> f64 {
    facts.pace.added(row.calls).or_zero() as f64 / row.blocked_ns.max(1) as f64
}

fn what(facts: &Facts, blocker: &Blocker) -> String {
    match &blocker.call {
        None => "its own code".to_string(),
        Some((syscall, Some(target))) => format!("{} of {target}", facts.name_of(*syscall)),
        Some((syscall, None)) => facts.name_of(*syscall).to_string(),
    }
}
