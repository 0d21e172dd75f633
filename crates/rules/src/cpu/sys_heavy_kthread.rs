//! # sys-heavy-kthread
//!
//! ## What it is
//! Threads of the kernel itself (kworker, ksoftirqd, kswapd, a journal's) take a good part of the machine's CPU time.
//!
//! ## Why it is slow
//! It is time that programs do not get, and no program is charged with it: a profile or a trace of one shows nothing.
//! What kind of thread it is says which part of the kernel is at work, and that leads to who makes it work.
//!
//! ## Example
//! ```text
//! kswapd0: 0.41 CPUs (20.5 % of the host's): frees memory in the background
//! ```
//!
//! ## What to do instead
//! It depends on the kind: memory for kswapd, spread packets for ksoftirqd, fewer flushes for a journal.
//!
//! ## When it is wrong
//! A RAID that is checked, a disk that is encrypted, files served to clients by the kernel: that work was asked for, and
//! is a notice. Where CPUs are idle and none of these threads fills one, nobody waits for the time that they take: no
//! finding.

use super::queue;
use crate::engine::{Findings, Rule};
use crate::figures;
use crate::gate::gated;
use crate::guards::{self, Share};
use crate::kernel_threads::{self, Kind};
use whyslow_facts::Facts;
use whyslow_facts::host::Thing;
use whyslow_model::{Entity, Measurement, Metric, Severity, Trait};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "sys-heavy-kthread",
    group: "cpu",
    summary: "threads of the kernel take a good part of the CPU time",
    source: include_str!("sys_heavy_kthread.rs"),
    needs: &[figures::tasks(&[Metric::TaskSystem])],
    check,
};

/// CPU time of one kind in all: less is nothing on any machine.
const MIN_CPU: f64 = 0.20;
/// A thread that takes this part of one CPU is near its end, and who waits for its work waits though other CPUs are idle.
const FILLS_A_CPU: f64 = 0.5;
/// Findings of this rule in one diagnosis.
const MOST: usize = 2;
/// The threads that the title names, the busiest first.
const NAMED: [&str; 3] = ["cpus_of_busiest_thread", "cpus_of_second_thread", "cpus_of_third_thread"];

/// One kind's threads.
struct Group<'a> {
    kind: &'static Kind,
    cpu: f64,
    threads: Vec<(f64, &'a Entity, &'a Thing)>,
}

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for (cpu, of, thing) in figures::most(facts, figures::cpu) {
        let name = thing.told(Trait::Name).unwrap_or_else(|| of.name());
        let Some(kind) = kernel_threads::kind_of(name).filter(|_| kernel_threads::is_kernel(of, thing))
        else {
            continue;
        };
        match groups.iter_mut().find(|group| std::ptr::eq(group.kind, kind)) {
            Some(group) => {
                group.cpu += cpu;
                group.threads.push((cpu, of, thing));
            }
            None => groups.push(Group { kind, cpu, threads: vec![(cpu, of, thing)] }),
        }
    }
    groups.sort_by(|a, b| b.cpu.total_cmp(&a.cpu));
    let cpus = queue::host_cpus(facts);
    let are_idle = queue::idle_cpus(facts).is_some_and(|idle| idle >= queue::IDLE_CPUS);
    let delays = |group: &Group<'_>| !are_idle || group.threads.iter().any(|(cpu, ..)| *cpu >= FILLS_A_CPU);
    let heavy = |group: &&Group<'_>| {
        group.cpu >= MIN_CPU && group.cpu / cpus >= guards::WARNING_SHARE && delays(group)
    };
    for group in groups.iter().filter(heavy).take(MOST) {
        let value = group.cpu / cpus;
        let Some(&(_, of, _)) = group.threads.first() else { continue };
        let share = Share::of_cpu_time(value, "the host's CPU time");
        let who = figures::named(facts, &group.threads, Metric::TaskSystem, None);
        let kind = group.kind;
        let asked = if kind.wanted { " Somebody asked for that work." } else { "" };
        let cpu = Measurement::seconds_per_second("cpus_used", group.cpu).at_least(MIN_CPU);
        let part = share.figure().at_least(guards::WARNING_SHARE);
        let threads = NAMED.iter().zip(&group.threads);
        let threads = threads.map(|(name, (cpu, ..))| Measurement::seconds_per_second(name, *cpu));
        out.report(share, format!("threads of the kernel take {cpu} CPUs ({part} of the host's): {who}"))
            .measured(cpu)
            .measured(part)
            .measured_all(threads)
            .at_most(if kind.wanted { Severity::Notice } else { Severity::Warning })
            .subject(figures::subject(facts, of))
            .cause(format!("By their names {}.{asked} The time belongs to no program, but one of them makes the kernel do it.", kind.does))
            .fix(kind.look)
            .verify("pidstat -u 1 (%system of these threads), top -H; perf top -g shows their functions")
            .evidence_of(of, &[Metric::TaskUser, Metric::TaskSystem, Metric::TaskCpu])
            .file();
    }
}
