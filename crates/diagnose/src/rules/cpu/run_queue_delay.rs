//! # run-queue-delay
//!
//! ## What it is
//! Threads that could run wait for a CPU: they are runnable, and none is free for them, for a good part of their time.
//!
//! ## Why it is slow
//! The wait adds to every step of a request, and shows in no system call. It has one of three causes: the program has
//! more threads that want to run than CPUs; others on the host take them; or the group's CPU quota is used up, and the
//! kernel stops all of its threads until the next period (100 ms as a rule).
//!
//! ## Example
//! ```text
//! thread 12 worker: on CPU 2.31 s, runnable 4.02 s, blocked 3.61 s; waits for a CPU: half 2.1 ms, the longest 98 ms
//! ```
//!
//! ## What to do instead
//! Fewer threads than CPUs (or than the quota allows), other work moved to other hosts or given less weight, a higher
//! quota.
//!
//! ## When it is wrong
//! Threads that only compute, more of them than CPUs, take turns: that is how a build or a simulation fills a machine.
//! What a CPU quota took, as cpu.stat tells it, is the finding of cpu-throttled, and is taken off here: no wait is blamed twice.
//! Where the recorded threads fill all the CPUs themselves and hardly ever block, it is a notice. Batch work at a low
//! priority is meant to wait. Threads seen for less than two seconds are not judged. By a host's figures alone only those
//! are judged that wait a fifth of their time, wait for other things as well, and are neither the kernel's nor as busy as
//! those that they wait for: on a machine that builds, the compilers share the CPUs, and no one suffers.

use super::queue::{self, Waiter};
use crate::engine::{Findings, Need, Rule, Subjects};
use crate::facts::{Facts, ProcessId, SchedTime, ThreadFacts};
use crate::figures;
use crate::guards::Share;
use crate::kernel_threads;
use crate::words;
use whyslow_model::{Entity, Histogram, Metric, Nanos, Severity};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "run-queue-delay",
    group: "cpu",
    summary: "threads that could run wait for a CPU",
    source: include_str!("run_queue_delay.rs"),
    needs: &[Need::Either(&[Need::Scheduling, figures::tasks(&[Metric::RunDelay])])],
    check,
};

/// From this part of a thread's life on (the field's rule of thumb for a saturated CPU).
const MIN_SHARE: f64 = 0.10;
/// Less in all is nothing that anybody notices.
const MIN_WAIT: Nanos = Nanos::from_millis(100);
/// A shorter look at a thread may be its start (guard 4).
const SHORTEST: Nanos = Nanos::from_secs(2);
/// The recorded threads fill the CPUs themselves.
const FULL: f64 = 0.90;
/// A thread that blocks less than this only computes.
const HARDLY_BLOCKS: f64 = 0.05;
/// Waits this long are rarely a queue's on a host that is not overloaded: the period of a CPU quota is 100 ms.
const QUOTA_LIKE: Nanos = Nanos::from_millis(20);
/// By figures, which tell no single waits, from this part of a process's time on: at 9 % a healthy nginx beside a build
/// was warned of.
const MIN_SHARE_BY_FIGURES: f64 = 0.20;
/// A process whose threads want this part of the CPUs it may use all the time is one of those that others wait for.
const COMPETES: f64 = 0.80;
/// Findings of this rule in one diagnosis.
const MOST: usize = 3;

/// The threads of one process that wait for a CPU.
struct Waiting<'a> {
    process: ProcessId,
    threads: Vec<(&'a ThreadFacts, &'a SchedTime)>,
    /// In the queue, without what the quota took.
    runnable_ns: u64,
    throttled_ns: u64,
    life_ns: u64,
}

fn check(facts: &Facts, out: &mut Findings<'_>) {
    let mut groups: Vec<Waiting<'_>> = Vec::new();
    for (_, thread) in facts.world.threads.iter() {
        let Some(time) = thread.sched.as_deref().filter(|time| waits(time)) else { continue };
        let at = groups.iter().position(|group| group.process == thread.process).unwrap_or_else(|| {
            groups.push(Waiting {
                process: thread.process,
                threads: Vec::new(),
                runnable_ns: 0,
                throttled_ns: 0,
                life_ns: 0,
            });
            groups.len() - 1
        });
        let group = &mut groups[at];
        group.threads.push((thread, time));
        group.runnable_ns = group.runnable_ns.saturating_add(queued(time));
        group.throttled_ns = group.throttled_ns.saturating_add(time.throttled_ns);
        group.life_ns = group.life_ns.saturating_add(time.covered().or_zero());
    }
    // A program that waits for what a thread of the kernel does waits for that, and says so.
    groups.retain(|group| !kernel_threads::is_kernels(facts, group.process));
    groups.sort_by_key(|group| (std::cmp::Reverse(group.runnable_ns), group.process));
    let left = MOST - groups.len().min(MOST);
    for group in groups.into_iter().take(MOST) {
        report(facts, out, group);
    }
    // The scheduler's account of a recorded process says more than figures do.
    let recorded = |of: &Entity| {
        let process = of.pid().and_then(|pid| facts.world.threads.find_process(pid));
        facts.sched.is_known() && process.is_some()
    };
    let waiters = queue::waiters(facts, facts.host.processes());
    let victims = waiters.iter().filter(|one| is_victim(facts, one) && !recorded(one.of));
    victims.take(left).for_each(|one| report_figures(facts, out, one));
}

/// By figures: waits for a good part of its time, and not for CPUs that it fills itself.
fn is_victim(facts: &Facts, one: &Waiter<'_>) -> bool {
    let fills = one.wanted() >= COMPETES * one.threads().min(one.room);
    let long =
        figures::times(one.thing, Metric::RunDelay).is_none_or(|s| s * 1e9 >= MIN_WAIT.or_zero() as f64);
    // In no more than the periods in which its quota stopped it, it waited for that.
    let quota = one.stopped(facts).unwrap_or(0.0);
    let share = one.share(facts).value;
    long && !fills && share.is_some_and(|part| part - quota >= MIN_SHARE_BY_FIGURES)
        // What it is bound to is another cause, with a rule of its own.
        && !one.is_pinned(facts)
}

/// Runnable time without what the quota took.
fn queued(time: &SchedTime) -> u64 {
    time.runnable_ns.saturating_sub(time.throttled_ns)
}

fn report_figures(facts: &Facts, out: &mut Findings<'_>, one: &Waiter<'_>) {
    let name = facts.host.name_of(one.of);
    let share = one.share(facts);
    let waits = words::percent(share.value.unwrap_or(0.0));
    let quota = one.stopped(facts);
    let hogs = figures::most(facts, figures::cpu);
    let why = match quota.filter(|part| *part >= MIN_SHARE) {
        Some(part) => {
            format!(
                "The quota of its group stops it in {} of the periods (see cpu-throttled); for the rest others take the CPUs: {}.",
                words::percent(part),
                figures::named(facts, &hogs, Metric::TaskCpu, Some(one.of))
            )
        }
        None => format!(
            "The CPUs are taken by others: {}.",
            figures::named(facts, &hogs, Metric::TaskCpu, Some(one.of))
        ),
    };
    let pid = one.of.pid().map_or("PID".to_string(), |pid| pid.to_string());
    out.report(share, format!("{name} waits for a CPU {waits} of its time"))
        .confidence(0.8)
        .subject(figures::subject(facts, one.of))
        .cause(format!("Its threads could run, but the kernel had no CPU for them for {} a second. {why}", Nanos::new((one.delay * 1e9) as u64)))
        .fix("give the others less weight (nice -n 19, cpu.weight of their group), bound their number, or move them to another host or hour")
        .fix(format!("give it more weight: systemd CPUWeight=, renice -n -5 -p {pid}; more CPUs only if all of the work is needed at once"))
        .verify(format!("pidstat -u -p {pid} 1 (%wait falls); vmstat 1 (r near the number of CPUs); whyslow record -p {pid} shows single waits"))
        .evidence_of(one.of, &[Metric::TaskUser, Metric::TaskSystem, Metric::TaskCpu, Metric::RunDelay])
        .evidence_of(&Entity::Host, &[Metric::CpuIdle, Metric::Runnable, Metric::CpuCount])
        .file();
}

fn waits(time: &SchedTime) -> bool {
    let life = time.covered();
    time.wall().is_known()
        && life >= SHORTEST
        && queued(time) >= MIN_WAIT.or_zero()
        && queued(time) as f64 >= MIN_SHARE * life.or_zero() as f64
}

fn report(facts: &Facts, out: &mut Findings<'_>, mut group: Waiting<'_>) {
    group.threads.sort_by_key(|(thread, time)| (std::cmp::Reverse(queued(time)), thread.tid));
    let Some(&(worst, time)) = group.threads.first() else { return };
    let count = group.threads.len() as u64;
    let cpus = facts.sched.cpus().max(1) as u64;
    let window = facts.window.whole().or_zero().max(1);
    let used = facts.sched.on_cpu().or_zero() as f64 / (window as f64 * cpus as f64);
    let among_themselves = used >= FULL && count > cpus;
    let blocked: u64 = group.threads.iter().map(|(_, time)| time.blocked_ns).sum();
    let only_compute = (blocked as f64) < HARDLY_BLOCKS * group.life_ns as f64;
    let mut queue = Histogram::default();
    group.threads.iter().for_each(|(_, time)| queue.merge(&time.run_queue));
    let long = queue.percentile(0.99);
    let quota = match group.throttled_ns {
        0 => String::new(),
        ns => format!(
            " What their CPU quota took besides, {}, is not in this (see cpu-throttled).",
            Nanos::new(ns)
        ),
    };
    let why = if among_themselves {
        format!(
            "The recorded threads use {} of the {} that they ran on: they wait for each other.",
            words::percent(used),
            words::plural(cpus, "CPU")
        )
    } else if long >= QUOTA_LIKE {
        format!(
            "The recorded threads used only {} of the {} that they ran on, and the longest of a hundred waits took {long}: \
             so a CPU quota stops them (cgroup cpu.max), or others on the host hold the CPUs.",
            words::percent(used),
            words::plural(cpus, "CPU")
        )
    } else {
        format!(
            "The recorded threads used only {} of the {} that they ran on: others on the host take the rest.",
            words::percent(used),
            words::plural(cpus, "CPU")
        )
    };
    let runnable = Nanos::new(group.runnable_ns);
    let value = group.runnable_ns as f64 / group.life_ns.max(1) as f64;
    let threads = words::plural(count, "thread");
    let share = Share { value: Some(value), of: format!("the life of {threads}") };
    let subject = Subjects::thread(facts, worst.tid);
    let name = subject.comm.as_deref().unwrap_or("the process");
    let title = match count {
        1 => format!(
            "{} waits {runnable} for a CPU, {} of its time",
            Subjects::words(&subject),
            words::percent(value)
        ),
        _ => {
            format!("{threads} of {name} wait {runnable} for a CPU, {} of their time", words::percent(value))
        }
    };
    let pid = subject.pid.map_or("PID".to_string(), |pid| pid.to_string());
    let mut found = out
        .report(share, title)
        .at_most(if among_themselves && only_compute { Severity::Notice } else { Severity::Critical })
        .confidence(0.8)
        .subject(subject)
        .cause(format!(
            "They could run, but the kernel had no CPU for them: half of the waits took {} and more. {why}{quota}",
            queue.percentile(0.5)
        ));
    found = match among_themselves {
        true => found.fix("fewer threads that want to run at once: size the pool by the CPUs (or by the quota of the container), not by the requests"),
        false => found
            .fix(format!("see whether a quota stops it: grep -H . /sys/fs/cgroup/$(cut -d: -f3 /proc/{pid}/cgroup | tail -1)/cpu.stat (nr_throttled grows?); raise cpu.max (Kubernetes: limits.cpu), or run fewer threads"))
            .fix("see who else runs: pidstat -u 1, top; move it away, or give it less weight (nice, cpu.weight)"),
    };
    found
        .fix("see whether it is pinned: taskset -cp on its pid; more CPUs only if the work can use them")
        .verify("bcc: runqlat 10 1, runqslower 10000; cat /proc/pressure/cpu; vmstat 1 (r above the number of CPUs, st)")
        .saving_text(format!("up to {runnable} of waiting"))
        .evidence_line(facts.recording_at(time.first()), format!("thread {}: {}", worst.tid, facts.account(time)))
        .file();
}
