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
use crate::gate::gated;
use crate::guards::{self, Share};
use whyslow_facts::{Facts, ProcessId, SignalFacts};
use whyslow_model::{CallStats, Measurement, SampleKind, Subject, Syscall};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "signal-storm",
    group: "process",
    summary: "a process is interrupted by a thousand signals per second or more",
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
/// Fewer samples are no profile.
const MIN_SAMPLES: u64 = 50;
/// What the kernel runs for signals only: kernel/signal.c, kernel/time/itimer.c, arch/x86/kernel/signal*.c, arch/arm64/kernel/signal.c.
/// A thread that runs on another CPU is told by an interrupt there.
const OF_SIGNALS: &[&str] = &[
    "get_signal",
    "arch_do_signal_or_restart",
    "do_signal",
    "do_notify_resume",
    "do_send_sig_info",
    "do_send_specific",
    "group_send_sig_info",
    "send_signal_locked",
    "send_sigqueue",
    "__x64_sys_rt_sigreturn",
    "__do_sys_rt_sigreturn",
    "__arm64_sys_rt_sigreturn",
    "it_real_fn",
    "posix_timer_fn",
    "posix_cpu_timers_work",
    "do_setitimer",
    "sysvec_reschedule_ipi",
    "asm_sysvec_reschedule_ipi",
];

#[gated]
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

/// The part of a process' CPU time that the kernel spends on its signals.
#[gated]
fn delivering(facts: &Facts, process: ProcessId) -> Option<f64> {
    let kind = SampleKind::OnCpu;
    let all = facts.samples.total(kind, process, None);
    let signals = facts.samples.in_kernel(kind, process, None, |function| OF_SIGNALS.contains(&function));
    (all.count >= MIN_SAMPLES).then(|| signals.ns as f64 / all.ns.max(1) as f64)
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
    // What a trace measures of a signal is its return; the handler itself runs in user mode.
    let returning = match returns.total().get() {
        Some(ns) if process_ns > 0 => {
            Share::of_time((ns as f64 / process_ns as f64).min(1.0), "wall time of its threads")
        }
        _ => Share::unknown(),
    };
    // Samples show what the kernel does for it: sending, stopping the thread, building the handler's frame, returning.
    let in_kernel = delivering(facts, signal.process);
    let share = match in_kernel {
        Some(part) if returning.value.is_none_or(|value| value < part) => {
            Share::of_cpu_time(part, "the CPU time of the process")
        }
        _ => returning,
    };
    let calls = Measurement::count("rt_sigreturn_calls", returns.count);
    let time = Measurement::time("time", returns.total());
    let cost = match returns.count {
        0 => "The cost of the handlers runs in user mode and is not in the capture.".to_string(),
        _ => format!(
            "The returns alone ({calls} rt_sigreturn calls) took {time}; the handlers run in user mode and are not in the capture."
        ),
    };
    let in_kernel = in_kernel.map(|part| Measurement::share("share_in_kernel", part));
    let kernel = in_kernel.as_ref().map_or(String::new(), |part| {
        format!(" Of its CPU time {part} is the kernel's work on signals, without the handlers.")
    });
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
    let signals = Measurement::count("signals", signal.count).at_least(MIN_SIGNALS as f64);
    let names = ["signals_per_second", "signals_per_second_untraced"];
    let rates = guards::rate_figures(facts, names, Some(rate), SIGNALS_PER_S);
    let rate = Measurement::per_second("signals_per_second", rate);
    out.report(share, format!("{signals} {} signals, {rate} per second", signal.name))
        .measured(signals)
        .measured_all(rates)
        .measured_all((returns.count > 0).then_some([calls, time]).into_iter().flatten())
        .measured_all(in_kernel)
        .subject(Subject {
            syscall: (returns.count > 0).then(|| "rt_sigreturn".to_string()),
            ..Subjects::thread(facts, signal.tid)
        })
        .cause(format!("They come from {source}. {cost}{kernel}"))
        .fix("profiler: lower its rate to 100 Hz, or sample from outside (perf record -F 99, a BPF profiler)")
        .fix("timers: timerfd_create and one epoll loop; events: signalfd or eventfd; between threads: a condition variable instead of a signal")
        .verify(format!("bcc: killsnoop; trace-cmd record -e signal:signal_deliver;  perf stat -e signal:signal_deliver -p {} sleep 4", Subjects::thread(facts, signal.tid).pid.map_or("PID".to_string(), |pid| pid.to_string())))
        .saving(returns.total())
        .evidence(Some(&signal.exemplar))
        .file();
}
