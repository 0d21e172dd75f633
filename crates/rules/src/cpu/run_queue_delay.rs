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
//! quota. Who had the CPUs meanwhile is told by the scheduler's record of each wait. Where that is missing, the host's samples in a
//! recording tell, or a table of pidstat or top beside it: the process that took most outside of the recorded ones is named. Where
//! no source tells, that is said.
//!
//! ## When it is wrong
//! Threads that only compute, more of them than CPUs, take turns: that is how a build or a simulation fills a machine.
//! A recording of some processes says nothing here of others that wait. Where the recorder had the CPU, or nobody, it is no queue
//! and is taken off: an idle CPU takes its time to wake up, or the hypervisor does not run it (see steal-time). Of a process that strace stopped meanwhile, its %wait is
//! strace's doing. What a CPU quota took, as cpu.stat tells it, is the finding of cpu-throttled, and is taken off here: no wait is blamed twice. Where that is most of the wait and a CPU was free all the time, so is the rest.
//! Where the recorded threads fill all the CPUs themselves and hardly ever block, or own threads had the CPU nearly all of the time
//! waited, it is a notice: they compute, and too-many-threads says where there are too many; unless other threads of the same program answer
//! requests and wait for a CPU most of the time that they want one. Batch work at a low priority is meant to wait. Threads seen for less than two seconds are not judged, but for those of a process that was there before the recording: they are
//! from a quarter of a second on, where they wait for 30 % of it. By a host's figures alone only those
//! are judged that wait a fifth of their time, wait for other things as well, and are neither the kernel's nor as busy as
//! those that they wait for: on a machine that builds, the compilers share the CPUs, and no one suffers.

use super::answering::Answering;
use super::holders::Holders;
use super::queue;
use super::queue_words;
use super::rivals::{Rivals, TAKES};
use super::run_queue_figures::{self, MIN_SHARE, MIN_WAIT, UNKNOWN};
use crate::engine::{Findings, Need, Rule, Subjects};
use crate::figures;
use crate::gate::gated;
use crate::guards::Share;
use crate::kernel_threads;
use crate::words;
use whyslow_facts::{Facts, ProcessId, SchedTime, ThreadFacts};
use whyslow_model::{Entity, Histogram, Measurement, Metric, Nanos, Severity};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "run-queue-delay",
    group: "cpu",
    summary: "threads that could run wait for a CPU",
    source: include_str!("run_queue_delay.rs"),
    needs: &[Need::Either(&[
        Need::Scheduling,
        figures::tasks(&[Metric::RunDelay]),
        Need::Growth(&[Metric::RunDelay]),
    ])],
    check,
};

/// A shorter look at a thread may be its start (guard 4).
const SHORTEST: Nanos = Nanos::from_secs(2);
/// ... but not of a process that was there before the recording. On a host without a free CPU the recorder itself gets on late.
const SHORT: Nanos = Nanos::from_millis(250);
/// In so short a time a thread has to wait for this part of it: three times as much as over seconds, where a burst of others weighs less.
const STARVED: f64 = 0.30;
/// The recorded threads fill the CPUs themselves.
const FULL: f64 = 0.90;
/// A thread that blocks less than this only computes.
const HARDLY_BLOCKS: f64 = 0.05;
/// Waits this long are rarely a queue's on a host that is not overloaded: the period of a CPU quota is 100 ms.
const QUOTA_LIKE: Nanos = Nanos::from_millis(20);
/// CPUs' worth of idle time, on average, with which no thread waits for a CPU that others hold.
const FREE_CPU: f64 = 1.0;

/// The threads of one process that wait for a CPU.
struct Waiting<'a> {
    process: ProcessId,
    threads: Vec<(&'a ThreadFacts, &'a SchedTime)>,
}

impl Waiting<'_> {
    fn sum(&self, of: impl Fn(&SchedTime) -> u64) -> u64 {
        self.threads.iter().map(|(_, time)| of(time)).fold(0, u64::saturating_add)
    }
}

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let mut groups: Vec<Waiting<'_>> = Vec::new();
    for (_, thread) in facts.world.threads.iter() {
        let Some(time) = thread.sched.as_deref().filter(|time| waits(facts, thread, time)) else { continue };
        match groups.iter_mut().find(|group| group.process == thread.process) {
            Some(group) => group.threads.push((thread, time)),
            None => groups.push(Waiting { process: thread.process, threads: vec![(thread, time)] }),
        }
    }
    // A program that waits for what a thread of the kernel does waits for that, and says so.
    groups.retain(|group| !kernel_threads::is_kernels(facts, group.process) && !is_quotas(facts, group));
    groups.sort_by_key(|group| (std::cmp::Reverse(group.sum(queued)), group.process));
    groups.into_iter().for_each(|group| report(facts, out, group));
    run_queue_figures::check(facts, out);
}

/// True where a quota explains all of the wait: most of it by the kernel's own count, and a CPU was free meanwhile. That count leaves
/// out what passes until the stopped threads are back in a queue.
#[gated]
fn is_quotas(facts: &Facts, group: &Waiting<'_>) -> bool {
    group.sum(|time| time.throttled_ns) >= group.sum(queued)
        && queue::idle_cpus(facts).is_some_and(|idle| idle >= FREE_CPU)
}

/// Runnable time without what the quota took.
fn queued(time: &SchedTime) -> u64 {
    time.runnable_ns.saturating_sub(time.throttled_ns)
}

/// The part of a time that counts.
#[gated]
fn least(life: Nanos) -> f64 {
    if life >= SHORTEST { MIN_SHARE } else { STARVED }
}

#[gated]
fn waits(facts: &Facts, thread: &ThreadFacts, time: &SchedTime) -> bool {
    let life = time.covered();
    let is_start = facts.world.threads.process(thread.process).started;
    // A damaged recording may claim times that have no sum.
    time.wall().is_known()
        && life.is_known()
        && (life >= SHORTEST || life >= SHORT && !is_start)
        && queued(time) >= MIN_WAIT.or_zero()
        && queued(time) as f64 >= least(life) * life.or_zero() as f64
}

#[gated]
fn report(facts: &Facts, out: &mut Findings<'_>, mut group: Waiting<'_>) {
    group.threads.sort_by_key(|(thread, time)| (std::cmp::Reverse(queued(time)), thread.tid));
    let Some(&(worst, time)) = group.threads.first() else { return };
    let count = group.threads.len() as u64;
    let cpus = facts.sched.cpus().max(1) as u64;
    let window = facts.window.whole().or_zero().max(1);
    let used = facts.sched.on_cpu().or_zero() as f64 / (window as f64 * cpus as f64);
    let threads = group.threads.iter().map(|(thread, _)| *thread);
    let holders = Holders::of(facts, group.process, threads, group.sum(queued));
    let (blocked, life) = (group.sum(|time| time.blocked_ns), group.sum(|time| time.covered().or_zero()));
    let runnable = group.sum(queued);
    let runnable = holders.as_ref().map_or(runnable, |holders| holders.queued(runnable));
    let value = runnable as f64 / life.max(1) as f64;
    if value < MIN_SHARE || runnable < MIN_WAIT.or_zero() {
        return;
    }
    let runnable = Nanos::new(runnable);
    let among_themselves = holders.as_ref().map_or(used >= FULL && count > cpus, Holders::are_own);
    let fill = holders.as_ref().is_some_and(Holders::fill);
    let only_compute = (blocked as f64) < HARDLY_BLOCKS * life as f64;
    let mut queue = Histogram::default();
    group.threads.iter().for_each(|(_, time)| queue.merge(&time.run_queue));
    let long = queue.percentile(0.99);
    let [p50, p99] =
        [("p50", queue.percentile(0.5)), ("p99", long)].map(|(name, ns)| Measurement::time(name, ns));
    let throttled = group.sum(|time| time.throttled_ns);
    let quota = Measurement::time("throttled_time", Nanos::new(throttled));
    let besides = match throttled {
        0 => String::new(),
        _ => format!(" What their CPU quota took besides, {quota}, is not in this (see cpu-throttled)."),
    };
    let subject = Subjects::thread(facts, worst.tid);
    let rivals = Rivals::outside(facts, subject.pid);
    let waited = queued(time) as f64 / window as f64;
    let blamed =
        rivals.as_ref().filter(|rivals| !among_themselves && holders.is_none() && rivals.account_for(waited));
    let of_cpus = Measurement::share("share_of_cpus", used);
    let used =
        format!("The recorded threads use {of_cpus} of the {} that they ran on", words::plural(cpus, "CPU"));
    let others = match &holders {
        Some(holders) => holders.sentence(),
        None => rivals.as_ref().map_or(UNKNOWN.to_string(), |rivals| rivals.sentence(facts)),
    };
    let all = super::queue::host_cpus(facts);
    let more = among_themselves && all > cpus as f64;
    let all = more.then(|| Measurement::number("host_cpus", all));
    let told = holders.as_ref().is_some_and(|holders| among_themselves || holders.first().is_some());
    let why = match told || blamed.is_some() && all.is_none() {
        true => format!("{used}."),
        false => {
            queue_words::why(&used, among_themselves, all.as_ref(), Some(&p99).filter(|_| long >= QUOTA_LIKE))
        }
    };
    let held_up = Answering::of(facts, group.process).filter(Answering::are_held_up);
    let requests = held_up.as_ref().map_or(String::new(), Answering::sentence);
    let threads = words::plural(count, "thread");
    let share = Share::of_time(value, format!("the life of {threads}"));
    let name = subject.comm.as_deref().unwrap_or("the process");
    let (who, rival) = match &holders {
        Some(holders) => holders.title(facts),
        None => {
            blamed.and_then(|rivals| rivals.title(facts)).map(|(who, figure)| (format!(" {who}"), figure))
        }
    }
    .unzip();
    let beside = who.unwrap_or_else(|| queue_words::nobody(among_themselves, rivals.is_some()));
    let each = held_up.as_ref().map_or(String::new(), |it| format!("; {} for each request", it.each()));
    let part = share.figure().at_least(least(time.covered()));
    let waits = Measurement::time("time", runnable).at_least(MIN_WAIT.or_zero() as f64);
    let (who, whose) = match count {
        1 => (format!("{} waits", Subjects::words(&subject)), "its"),
        _ => (format!("{threads} of {name} wait"), "their"),
    };
    let title = queue_words::title(
        &format!("{who} {waits} for a CPU"),
        &beside,
        &format!("{part} of {whose} time"),
        &each,
    );
    let pid = subject.pid.map_or("PID".to_string(), |pid| pid.to_string());
    let mut found = out
        .report(share, title)
        .at_most(match fill || among_themselves && only_compute {
            true if held_up.is_none() => Severity::Notice,
            _ => Severity::Critical,
        })
        .subject(subject)
        .cause(format!(
            "They could run, but the kernel had no CPU for them: half of the waits took {p50} and more. {why}{requests} {others}{besides}"
        ))
        .measured_all([Measurement::count("threads", count), waits, part, p50, p99])
        .measured_all([of_cpus, Measurement::count("cpus", cpus)])
        .measured_all(all.into_iter().chain((throttled > 0).then_some(quota)).chain(rival))
        .measured_all(held_up.as_ref().map(Answering::each));
    let renice = match &holders {
        Some(holders) => holders.first().map(|(_, pid)| pid),
        None => blamed.and_then(|rivals| rivals.first()?.pid()),
    };
    found = match (among_themselves, renice) {
        _ if held_up.is_some() && among_themselves => found.fix("let what answers requests go first: give the program's other work less weight (nice -n 19, chrt --batch 0, cpu.weight of a group of its own), do less of it at once, or run it elsewhere"),
        (true, _) => found.fix("fewer threads that want to run at once: size the pool by the CPUs (or by the quota of the container), not by the requests"),
        (false, Some(rival)) => found.fix(format!("move the other work to another host or hour, or give it less weight: renice -n 19 -p {rival}, cpu.weight of its group")),
        (false, None) => found
            .fix(format!("see whether a quota stops it: grep -H . /sys/fs/cgroup/$(cut -d: -f3 /proc/{pid}/cgroup | tail -1)/cpu.stat (nr_throttled grows?); raise cpu.max (Kubernetes: limits.cpu), or run fewer threads"))
            .fix("see who else runs: pidstat -u 1, top; move it away, or give it less weight (nice, cpu.weight)"),
    };
    found = found
        .fix("see whether it is pinned: taskset -cp on its pid; more CPUs only if the work can use them")
        .verify("bcc: runqlat 10 1, runqslower 10000; cat /proc/pressure/cpu; vmstat 1 (r above the number of CPUs, st)")
        .saving_text(format!("up to {runnable} of waiting"))
        .evidence_line(facts.recording_at(time.first()), format!("thread {}: {}", worst.tid, facts.account(time)));
    if let Some(rivals) = blamed {
        found = rivals.evidence(found);
    }
    if let Some((_, pid)) = holders.as_ref().and_then(Holders::first) {
        found = found.evidence_of(&Entity::Process(pid), TAKES);
    }
    found.evidence_of(&Entity::Host, &[Metric::CpuIdle, Metric::Runnable, Metric::CpuCount]).file();
}
