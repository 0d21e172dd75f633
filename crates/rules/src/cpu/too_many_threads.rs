//! # too-many-threads
//!
//! ## What it is
//! A program has many more threads that want to run at once than CPUs to run them: more than the machine has, than its
//! affinity allows, or than its container's quota pays for.
//!
//! ## Why it is slow
//! The CPUs do no more work for it. Each request is cut into slices and stands in the queue between them, every thread
//! that is stopped in the middle of a lock stops the others, and caches are filled anew after each switch. A runtime that
//! counts the machine's CPUs in a container with a quota of two starts 64 workers.
//!
//! ## Example
//! ```text
//! api (812): 8.1 threads want to run on 2 CPUs, 74.0 % of that time they wait; 4,120 times a second one is stopped
//! ```
//!
//! ## What to do instead
//! As many workers that compute as CPUs, or as the quota pays for; others wait in a queue of the program, where it can
//! see and bound them.
//!
//! ## When it is wrong
//! Thousands of threads that wait for a disk or a peer want no CPU: only those that could run count. A build or a
//! simulation is no service: where threads do not wait for anything between their slices, nothing is said.

use super::{holders, queue};
use crate::engine::{Findings, Rule};
use crate::figures;
use crate::gate::gated;
use whyslow_facts::Facts;
use whyslow_model::{Measurement, Metric, Severity};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "too-many-threads",
    group: "cpu",
    summary: "many more threads want to run than there are CPUs for them",
    source: include_str!("too_many_threads.rs"),
    needs: &[figures::tasks(&[Metric::RunDelay, Metric::VoluntarySwitches])],
    check,
};

/// Threads that want to run for each CPU: with twice as many, each waits as long as it runs.
const PER_CPU: f64 = 2.0;
/// The same of threads that only compute: those of a parallel build or a simulation, which take turns and lose little by it.
const COMPUTING_PER_CPU: f64 = 12.0;
/// Part of the CPUs that the program takes itself: else others are to blame, and run-queue-delay says who.
const OWN: f64 = 0.5;

/// Threads that want to run, at least, for them to be a crowd.
fn least(one: &queue::Waiter<'_>) -> f64 {
    let per_cpu = if one.serves() { PER_CPU } else { COMPUTING_PER_CPU };
    per_cpu * one.room.max(1.0)
}

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let waiters = queue::waiters(facts, facts.host.processes());
    let holders_of = |one: &queue::Waiter<'_>| holders::of_process(facts, one.of.pid()?);
    let others_have_it =
        |one: &queue::Waiter<'_>| holders_of(one).is_some_and(|holders| holders.are_others());
    let crowded = waiters.iter().filter(|one| {
        // A quota of less than a CPU stops also a single thread: that is the quota's doing, not a crowd's.
        let most = least(one);
        let crowd = one.wanted() >= most && one.threads() >= most;
        crowd && one.cpu >= OWN * one.room && !others_have_it(one)
    });
    for one in crowded {
        let name = facts.host.name_of(one.of);
        let share = one.share(facts);
        let rate = one.thing.current(Metric::InvoluntarySwitches);
        let rate = rate.map(|rate| Measurement::per_second("involuntary_switches_per_second", rate));
        let stopped = rate
            .as_ref()
            .map_or(String::new(), |rate| format!(" {rate} times a second one is stopped for another."));
        let most = least(one);
        let room = Measurement::number("cpus_allowed", one.room);
        let all = queue::host_cpus(facts);
        let cpus = (one.room < all).then(|| Measurement::number("host_cpus", all));
        let limited = cpus.as_ref().map_or(String::new(), |cpus| {
            format!(" The host has {cpus} CPUs, but its mask or its group's quota leaves it {room}.")
        });
        let wanted = Measurement::number("threads_wanting_cpu", one.wanted()).at_least(most);
        let threads = Measurement::number("threads", one.threads()).at_least(most);
        let ran = holders_of(one).map_or(String::new(), |holders| format!(" {}", holders.sentence()));
        let used = Measurement::seconds_per_second("cpus_used", one.cpu).at_least(OWN * one.room);
        let delay = Measurement::seconds_per_second("run_delay", one.delay);
        out.report(share, format!("{name}: {wanted} threads want to run at a time, and there are {room} CPUs for them"))
            .at_most(if one.serves() { Severity::Warning } else { Severity::Notice })
            .subject(figures::subject(facts, one.of))
            .cause(format!("Its {threads} threads take {used} CPUs and wait for {delay} more: they stand in each other's way, and no more work is done by it.{stopped}{limited}{ran}"))
            .fix(format!("as many workers as CPUs ({room}): GOMAXPROCS, -XX:ActiveProcessorCount, OMP_NUM_THREADS, worker_processes, the size of the pool"))
            .fix("let work that does not fit wait in a bounded queue of the program, and refuse what would wait too long")
            .fix("if the work is needed: more CPUs, or a higher quota (cpu.max; Kubernetes: limits.cpu)")
            .verify("pidstat -w -t 1 (nvcswch/s falls), vmstat 1 (r near the number of CPUs); bcc: runqlat 10 1")
            .measured_all([wanted, threads, used, delay, room])
            .measured_all(cpus.into_iter().chain(rate))
            .evidence_of(one.of, &[Metric::TaskUser, Metric::TaskSystem, Metric::TaskCpu, Metric::RunDelay, Metric::VoluntarySwitches, Metric::InvoluntarySwitches, Metric::Threads])
            .file();
    }
}
