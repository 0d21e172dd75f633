//! # event-loop-blocked
//!
//! ## What it is
//! The thread of an event loop (epoll) spends 50 ms or more between two polls, in one call or in code of its own, and when
//! it polls again others are waiting; or 10 ms and more, where it is quick otherwise: half of its turns take 0.5 ms at most for each
//! descriptor that was ready.
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
//! one epoll (Go's runtime, tokio), another one takes over: nothing is said, nor of a thread that waits at locks for longer than at its polls. On a machine that is short of CPUs a trace cannot
//! tell a turn's own code from waiting for one: a notice; a live recording tells. Turns of less than 50 ms are not judged where they may be such waits. The function that is named is the one in which the thread
//! computes most: of several, the long turns may be another's.

use super::lock_holder;
use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::{callers, guards, words};
use whyslow_facts::folds::loops::{Blocked, Blocker, EventLoop};
use whyslow_facts::{Facts, WaitKind};
use whyslow_model::{Measurement, Nanos, SampleKind, SaturatingSum, Severity, Subject};

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
/// Where the thread waited for a CPU for more than this part of them, shorter turns are not judged: the queue may have made them.
const QUEUED: f64 = 0.25;
/// The part of the turns that may be the tracer's making.
const TRACERS: f64 = 0.50;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let rows = facts.loops.rows.iter().map(|row| (row, row.blocked(!may_be_queued(facts, row))));
    let mut found: Vec<(&EventLoop, Blocked)> =
        rows.filter(|(row, blocked)| is_blocked(facts, row, blocked)).collect();
    found.sort_by_key(|(_, blocked)| std::cmp::Reverse(blocked.ns));
    for (row, blocked) in found {
        let Some(worst) = blocked.blockers.iter().max_by_key(|blocker| blocker.ns) else { continue };
        let time = Nanos::new(blocked.ns);
        let share = guards::share_of_ns(facts, Some(row.tid), time, blocked.turns);
        let crowded_share = blocked.several_waited as f64 / blocked.turns.max(1) as f64;
        let crowded = crowded_share >= CROWDED;
        // A trace cannot tell the thread's own code from waiting for a CPU.
        let starved = facts.pace.starved && worst.call.is_none();
        let longest = Measurement::time("longest", Nanos::new(blocked.longest_ns));
        let in_worst = Measurement::time("time_of_main_blocker", Nanos::new(worst.ns));
        let site = match &worst.call {
            Some((syscall, _)) => callers::of_calls(facts, row.tid, &[facts.name_of(*syscall)]),
            None => callers::computing(facts, row.tid),
        };
        let title = format!(
            "the event loop of thread {} is blocked {}, up to {longest}, in {}",
            row.tid,
            words::plural(blocked.turns, "time"),
            match &site {
                Some(site) if worst.call.is_none() => callers::short(site),
                Some(site) => format!("{}, called by {}", what(facts, worst), callers::short(site)),
                None => what(facts, worst),
            }
        );
        let others: Vec<String> = blocked
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
            .measured(Measurement::count("blocked_turns", blocked.turns).at_least(MIN_TURNS as f64))
            .measured(longest.at_least(blocked.from.or_zero() as f64))
            .measured(Measurement::time("time", time))
            .measured(Measurement::count("polls", row.polls).at_least(MIN_POLLS as f64))
            .measured(Measurement::count("ready_descriptors", blocked.waiting))
            .measured(Measurement::share("share_with_several_ready", crowded_share))
            .measured(Measurement::share("tracer_share", tracer_share(facts, &blocked)).at_most(TRACERS))
            .at_most(if crowded && !starved { Severity::Critical } else { Severity::Notice })
            .subject(subject)
            .cause(format!(
                "{} passed between two polls in turns of {} and more, and {} were ready at once after them: whoever they belong to waited that long. {in_worst} of it in {}.{others}",
                time,
                blocked.from,
                words::plural(blocked.waiting, "descriptor"),
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
fn is_blocked(facts: &Facts, row: &EventLoop, blocked: &Blocked) -> bool {
    !row.shared
        && row.polls >= MIN_POLLS
        && blocked.turns >= MIN_TURNS
        && tracer_share(facts, blocked) <= TRACERS
        && is_a_loop(facts, row)
}

/// True for a thread that waits at its polls more than at locks: a runtime's thread that polls now and then (Go) runs other work between.
#[gated]
fn is_a_loop(facts: &Facts, row: &EventLoop) -> bool {
    let waits = |kind: WaitKind| {
        let threads = facts.world.threads.iter().map(|(_, thread)| thread);
        let own = threads.filter(|thread| thread.tid == row.tid && thread.process == row.process);
        own.map(|thread| thread.waiting_ns[kind as usize]).saturating_sum()
    };
    waits(WaitKind::Lock) <= waits(WaitKind::Poll).saturating_add(waits(WaitKind::Timer))
}

/// True where turns of some milliseconds may have been waits for a CPU.
#[gated]
fn may_be_queued(facts: &Facts, row: &EventLoop) -> bool {
    let all = row.blocked(true);
    match facts.world.threads.thread_of(row.tid).and_then(|thread| thread.sched.as_deref()) {
        Some(time) => time.runnable_ns as f64 > QUEUED * all.ns as f64,
        None => facts.pace.starved,
    }
}

/// The part of the blocked time that the tracer added.
fn tracer_share(facts: &Facts, blocked: &Blocked) -> f64 {
    facts.pace.added(blocked.calls).or_zero() as f64 / blocked.ns.max(1) as f64
}

fn what(facts: &Facts, blocker: &Blocker) -> String {
    match &blocker.call {
        None => "its own code".to_string(),
        Some((syscall, Some(target))) => format!("{} of {target}", facts.name_of(*syscall)),
        Some((syscall, None)) => facts.name_of(*syscall).to_string(),
    }
}
