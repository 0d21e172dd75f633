//! # irq-imbalance
//!
//! ## What it is
//! One CPU serves the interrupts of a device, mostly packets, and is full with it, while the others are idle.
//!
//! ## Why it is slow
//! Packets wait for that CPU, and so does every program that the scheduler left on it. The host looks idle: one of
//! sixteen CPUs is 6 % of it.
//!
//! ## Example
//! ```text
//! CPU 3: 94.0 % in interrupts, 1.0 % idle; the 15 others 2.1 % in interrupts, 83.0 % idle
//! ```
//!
//! ## What to do instead
//! Spread them: several queues of the card (RSS), each with its own CPU; else RPS in software; irqbalance. Larger packets
//! or fewer (GRO, MTU, batching).
//!
//! ## When it is wrong
//! All packets of one connection are served by one CPU, in any case: a single fast flow cannot be spread. Where that CPU
//! still has time, nothing is said.

use crate::engine::{Findings, Rule};
use crate::figures;
use crate::gate::gated;
use crate::guards::Share;
use crate::words;
use whyslow_facts::Facts;
use whyslow_facts::host::Thing;
use whyslow_model::{Entity, Measurement, Metric, Severity};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "irq-imbalance",
    group: "cpu",
    summary: "one CPU is full of interrupts while others are idle",
    source: include_str!("irq_imbalance.rs"),
    needs: &[figures::cpus(&[Metric::CpuSoftirq, Metric::CpuIdle])],
    check,
};

/// Time of a CPU in interrupts: most of it.
const MIN_INTERRUPTS: f64 = 0.50;
/// Idle time of that CPU: with more it is not full.
const FULL: f64 = 0.10;
/// Idle time of the others, on average: with less there is nowhere to go.
const OTHERS_IDLE: f64 = 0.50;
/// Time of the others in interrupts, as a part of that CPU's.
const OTHERS_PART: f64 = 0.25;

/// In interrupts and idle, of a CPU's time.
fn account(thing: &Thing) -> Option<(f64, f64)> {
    let interrupts = thing.sum_current(&[Metric::CpuSoftirq, Metric::CpuIrq])?;
    let idle = thing.sum_current(&[Metric::CpuIdle, Metric::CpuIowait])?;
    Some((interrupts, idle))
}

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let cpus: Vec<_> = facts
        .host
        .things_that(|of| matches!(of, Entity::Cpu(_)))
        .into_iter()
        .filter_map(|(of, thing)| Some((of, account(thing)?)))
        .collect();
    let Some((worst, (interrupts, idle))) = cpus.iter().max_by(|a, b| a.1.0.total_cmp(&b.1.0)) else {
        return;
    };
    let others = cpus.len().saturating_sub(1);
    if others == 0 || *interrupts < MIN_INTERRUPTS || *idle > FULL {
        return;
    }
    let sum = |pick: fn(&(f64, f64)) -> f64| cpus.iter().map(|(_, account)| pick(account)).sum::<f64>();
    let (rest, rest_idle) =
        ((sum(|a| a.0) - interrupts) / others as f64, (sum(|a| a.1) - idle) / others as f64);
    if rest > OTHERS_PART * interrupts || rest_idle < OTHERS_IDLE {
        return;
    }
    let share = Share::of_time(*interrupts, format!("the time of {worst}"));
    let lines = busiest_lines(facts);
    let which =
        if lines.is_empty() { String::new() } else { format!(" Most frequent on the host: {lines}.") };
    let others_most = OTHERS_PART * interrupts;
    let interrupts = Measurement::share("share_in_interrupts", *interrupts).at_least(MIN_INTERRUPTS);
    let idle = Measurement::share("idle", *idle).at_most(FULL);
    let rest = Measurement::share("share_in_interrupts_of_others", rest).at_most(others_most);
    let rest_idle = Measurement::share("idle_of_others", rest_idle).at_least(OTHERS_IDLE);
    let others = Measurement::count("other_cpus", others as u64);
    out.report(share, format!("{worst} spends {interrupts} of its time in interrupts and is full; the {others} others are idle {rest_idle} of theirs"))
        .at_most(Severity::Warning)
        .subject(figures::subject(facts, worst))
        .cause(format!("The interrupts of a device go to this CPU alone: what they bring waits for it, and so do the programs on it.{which} The others spend {rest} in interrupts."))
        .fix("see which: watch -d -n1 cat /proc/interrupts; queues of the card: ethtool -l IF; more of them: ethtool -L IF combined N")
        .fix("spread them: irqbalance, or /proc/irq/N/smp_affinity_list; with one queue only, RPS: echo ffff > /sys/class/net/IF/queues/rx-0/rps_cpus")
        .fix("fewer: ethtool -K IF gro on; ethtool -C IF adaptive-rx on; a larger MTU; several connections instead of one, as a single flow stays on one CPU")
        .verify("mpstat -P ALL 1 (%soft and %irq of that CPU fall); bcc: softirqs 10 1, hardirqs 10 1")
        .measured_all([interrupts, idle, others, rest_idle, rest])
        .evidence_of(worst, &[Metric::CpuIrq, Metric::CpuSoftirq, Metric::CpuIdle])
        .file();
}

/// The device interrupts that come most often.
#[gated]
fn busiest_lines(facts: &Facts) -> String {
    /// Softirqs and local interrupts that every CPU has; devices' lines have names of their own.
    const OF_ALL: [&str; 12] =
        ["TIMER", "SCHED", "RCU", "HRTIMER", "LOC", "RES", "CAL", "TLB", "TASKLET", "NMI", "PMI", "IWI"];
    let lines =
        facts.host.things_that(|of| matches!(of, Entity::Interrupt(name) if !OF_ALL.contains(&&**name)));
    let mut lines: Vec<_> =
        lines.into_iter().filter_map(|(of, thing)| Some((thing.current(Metric::Interrupts)?, of))).collect();
    lines.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    let told: Vec<String> =
        lines.iter().take(2).map(|(rate, of)| format!("{of} ({}/s)", words::quantity(*rate))).collect();
    words::list(&told, 2)
}
