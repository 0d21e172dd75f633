//! # signal-storm
//!
//! ## What it is
//! A process gets a thousand signals a second or more.
//!
//! ## Why it is slow
//! Each signal stops a thread, saves its registers, runs the handler and returns with a call of its own; waiting
//! calls are cut short (EINTR) and must be made again. Interval timers of profilers are the usual source; a handled
//! SIGSEGV or SIGFPE costs the same, as does a lock built of signals.
//!
//! ## Example
//! ```text
//! --- SIGPROF {si_signo=SIGPROF, si_code=SI_KERNEL} ---
//! rt_sigreturn({mask=[]}) = 1
//! ```
//!
//! ## What to do instead
//! Lower the profiler's rate to 100 Hz; for timers use timerfd, for events signalfd or eventfd; between threads use
//! a futex (a condition variable) instead of a signal.
//!
//! ## When it is wrong
//! Go interrupts its own threads with SIGURG to switch goroutines: that is by design and left out. Each signal
//! costs microseconds, so a storm is slow only when there are many thousands a second, or when it breaks waits.

use crate::engine::{Findings, Need, Rule, Subjects};
use crate::guards::Share;
use crate::words;
use whyslow_facts::{Facts, SignalFacts};
use whyslow_model::{CallStats, Syscall};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "signal-storm",
    group: "process",
    summary: "a process is interrupted by a thousand signals a second or more",
    source: include_str!("signal_storm.rs"),
    needs: &[Need::Calls, Need::Clock],
    check,
};

/// Signals a second from which on it is a storm: profilers sample 100 to 250 times a second.
const SIGNALS_PER_S: f64 = 1_000.0;
/// Fewer signals than this are a burst.
const MIN_SIGNALS: u64 = 1_000;
/// Go's preemption of goroutines (runtime/signal_unix.go, `sigPreempt`).
const BY_DESIGN: &str = "SIGURG";

fn check(facts: &Facts, out: &mut Findings<'_>) {
    let mut storms: Vec<(&SignalFacts, f64)> = facts
        .world
        .signals
        .iter()
        .filter(|signal| signal.count >= MIN_SIGNALS && &*signal.name != BY_DESIGN)
        .filter_map(|signal| {
            Some((signal, whyslow_facts::window::per_second(signal.count, signal.first, signal.last)?))
        })
        .filter(|(_, rate)| facts.pace.untraced(Some(*rate)) >= Some(SIGNALS_PER_S))
        .collect();
    storms.sort_by_key(|(signal, _)| std::cmp::Reverse(signal.count));
    if let Some((signal, rate)) = storms.first() {
        report(facts, out, signal, *rate);
    }
}

fn report(facts: &Facts, out: &mut Findings<'_>, signal: &SignalFacts, rate: f64) {
    let mut returns = CallStats::default();
    let mut process_ns = 0;
    for (_, thread) in facts.world.threads.iter().filter(|(_, thread)| thread.process == signal.process) {
        process_ns += thread.wall().or_zero();
        if let Some(stats) = thread.by_syscall.get(Syscall::RT_SIGRETURN) {
            returns.merge(stats);
        }
    }
    // What is measured of a signal is its return; the handler itself runs in user mode.
    let share = match returns.total().get() {
        Some(ns) if process_ns > 0 => Share {
            value: Some((ns as f64 / process_ns as f64).min(1.0)),
            of: "wall time of its threads".to_string(),
        },
        _ => Share { value: None, of: String::new() },
    };
    let cost = match returns.count {
        0 => "The cost of the handlers runs in user mode and is not in the capture.".to_string(),
        n => format!(
            "The returns alone ({} rt_sigreturn calls) took {}; the handlers run in user mode and are not in the capture.",
            words::count(n),
            returns.total()
        ),
    };
    let source = match &*signal.name {
        "SIGPROF" | "SIGVTALRM" | "SIGALRM" => {
            "an interval timer (setitimer, timer_create), most often a profiler's"
        }
        "SIGSEGV" | "SIGBUS" => {
            "memory accesses that fault and are handled (a garbage collector's barrier, a guard page)"
        }
        "SIGCHLD" => "children that end: see fork-per-task",
        "SIGIO" => "asynchronous I/O on a descriptor (F_SETOWN, O_ASYNC)",
        _ => "another thread or process (see si_pid and si_code in the line)",
    };
    out.report(share, format!("{} {} signals, {} a second", words::count(signal.count), signal.name, words::quantity(rate)))
        .subject(Subjects::thread(facts, signal.tid))
        .cause(format!("They come from {source}. {cost}"))
        .fix("profiler: lower its rate to 100 Hz, or sample from outside (perf record -F 99, a BPF profiler)")
        .fix("timers: timerfd_create and one epoll loop; events: signalfd or eventfd; between threads: a condition variable instead of a signal")
        .verify(format!("bcc: killsnoop; trace-cmd record -e signal:signal_deliver;  perf stat -e signal:signal_deliver -p {} sleep 4", Subjects::thread(facts, signal.tid).pid.map_or("PID".to_string(), |pid| pid.to_string())))
        .saving(returns.total())
        .evidence(Some(&signal.exemplar))
        .file();
}
