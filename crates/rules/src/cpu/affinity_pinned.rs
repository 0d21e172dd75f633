//! # affinity-pinned
//!
//! ## What it is
//! A program may run on a few CPUs only (`taskset`, `CPUAffinity=`, a cpuset of its container) and waits for these, while
//! others are idle.
//!
//! ## Why it is slow
//! The scheduler must not use the idle CPUs for it: its threads take turns on those they are bound to, with whatever else
//! runs there.
//!
//! ## Example
//! ```text
//! worker (812): may run on CPU 0 only, waits for it 61.0 % of its time; 6.8 of 8 CPUs are idle
//! ```
//!
//! ## What to do instead
//! Widen the mask, or bind each thread to a CPU of its own. Masks are inherited: see who set it (systemd, the container,
//! a start script, numactl).
//!
//! ## When it is wrong
//! A CPU set aside for one real-time thread is bound on purpose: nobody waits for it, so nothing is said.

use super::{holders, queue};
use crate::engine::{Findings, Rule};
use crate::figures;
use crate::gate::gated;
use whyslow_facts::Facts;
use whyslow_model::{Entity, Measurement, Metric, Trait};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "affinity-pinned",
    group: "cpu",
    summary: "a program waits for the few CPUs that it is bound to, while others are idle",
    source: include_str!("affinity_pinned.rs"),
    needs: &[figures::tasks(&[Metric::RunDelay, Metric::CpusAllowed]), figures::cpus(&[Metric::CpuIdle])],
    check,
};

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let mut waiters = queue::waiters(facts, facts.host.processes());
    let threads = facts.host.things_that(|of| matches!(of, Entity::Thread { .. }));
    let threads = queue::waiters(facts, threads);
    waiters.retain(|one| one.is_pinned(facts));
    // A process says it for its threads.
    let told: Vec<Option<u32>> = waiters.iter().map(|one| one.of.pid()).collect();
    waiters.extend(threads.into_iter().filter(|one| one.is_pinned(facts) && !told.contains(&one.of.pid())));
    for one in waiters {
        let name = facts.host.name_of(one.of);
        let all = queue::host_cpus(facts);
        let cpus = Measurement::number("host_cpus", all);
        let idle = Measurement::number("idle_cpus", queue::idle_cpus(facts).unwrap_or(f64::NAN))
            .at_least(queue::IDLE_CPUS);
        let allowed = one.thing.current(Metric::CpusAllowed).unwrap_or(f64::NAN);
        let allowed = Measurement::number("cpus_allowed", allowed);
        let which = one.thing.told(Trait::Cpus).map_or(String::new(), |cpus| format!(" (CPU {cpus})"));
        let pid = match one.of {
            Entity::Thread { tid, .. } => tid.to_string(),
            of => of.pid().map_or("PID".to_string(), |pid| pid.to_string()),
        };
        let holders = one.of.pid().and_then(|pid| holders::of_process(facts, pid));
        let ran = holders.as_ref().map_or(String::new(), |holders| format!(" {}", holders.sentence()));
        let others = holders.as_ref().and_then(holders::Holders::first);
        let others = others.map_or("what else runs on these CPUs".to_string(), |(name, _)| {
            format!("{name} and what else runs on these CPUs")
        });
        let share = one.share(facts);
        let waits = share.figure().at_least(queue::PINNED_SHARE);
        out.report(share, format!("{name} may run on {allowed} of {cpus} CPUs{which} and waits for them {waits} of its time, while {idle} are idle"))
            .subject(figures::subject(facts, one.of))
            .cause(format!("Its affinity, or the cpuset of its group, keeps the scheduler from giving it an idle CPU: its threads take turns with each other and with what else runs there.{ran}"))
            .fix(format!("see who set it: taskset -acp {pid}; cat /proc/{pid}/cgroup, then cpuset.cpus of that group; systemctl show -p CPUAffinity UNIT"))
            .fix(format!("widen it: taskset -acp 0-{} {pid} (at once); systemd: CPUAffinity=; Docker: --cpuset-cpus; in the program: sched_setaffinity, numactl", all as u64 - 1))
            .fix(format!("if it must stay: move {others} away"))
            .verify(format!("pidstat -t -u -p {pid} 1 (%wait falls, the column CPU changes); mpstat -P ALL 1"))
            .measured_all([allowed, cpus, waits, idle])
            .evidence_of(one.of, &[Metric::TaskUser, Metric::TaskSystem, Metric::TaskCpu, Metric::RunDelay, Metric::CpusAllowed])
            .evidence_of(&Entity::Host, &[Metric::CpuIdle, Metric::CpuCount])
            .file();
    }
}
