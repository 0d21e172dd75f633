//! # steal-time
//!
//! ## What it is
//! A virtual machine wanted to run, and the hypervisor gave the CPU to another.
//!
//! ## Why it is slow
//! The whole machine stands still for that time: programs, the kernel, its clocks. No change within the machine helps,
//! and inside it looks as if everything took longer for no reason.
//!
//! ## Example
//! ```text
//! the hypervisor takes 31.0 % of the CPU time that this machine wants (st 24.8 %)
//! ```
//!
//! ## What to do instead
//! Another host or a size with CPUs of its own; a machine with credits (burstable) has used them up. Less work meanwhile.
//!
//! ## When it is wrong
//! A machine that is nearly idle loses next to nothing, whatever part of that little is stolen: below a quarter of its
//! CPUs in demand nothing is said, nor below 5 % of all time. A program that hardly computes loses as little on a busy one:
//! where its threads were recorded, what counts is what the busiest of them can have lost.

use crate::engine::{Findings, Rule};
use crate::figures;
use crate::gate::gated;
use crate::guards::Share;
use whyslow_facts::Facts;
use whyslow_hostcheck::thresholds;
use whyslow_model::{Entity, Measurement, Metric, Severity, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "steal-time",
    group: "cpu",
    summary: "the hypervisor gives this machine's CPUs to others",
    source: include_str!("steal_time.rs"),
    needs: &[figures::cpus(&[Metric::CpuSteal, Metric::CpuIdle])],
    check,
};

/// Of all CPU time, and of the time of the busiest thread (guard 1).
const MIN_STEAL: f64 = thresholds::STEAL.value;
/// Of all CPU time, what must be wanted: less is an idle machine.
const MIN_WANTED: f64 = 0.25;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let Some(host) = facts.host.host() else { return };
    let Some(steal) = host.current(Metric::CpuSteal) else { return };
    let Some(idle) = host.sum_current(&[Metric::CpuIdle, Metric::CpuIowait]) else { return };
    let wanted = (1.0 - idle).max(steal);
    if steal < MIN_STEAL || wanted < MIN_WANTED {
        return;
    }
    let value = steal / wanted;
    // A thread does not see that it is stopped: the same part of its time on a CPU is not its own.
    let busiest = busiest(facts);
    let share = match busiest {
        Some(busy) => Share::of_time(value * busy, "the wall time of the busiest thread"),
        None => Share::of_cpu_time(value, "the CPU time that the machine wants"),
    };
    if share.value.is_some_and(|lost| lost < MIN_STEAL) {
        return;
    }
    let steal = Measurement::share("steal", steal).at_least(MIN_STEAL);
    let part = Measurement::share("steal_of_wanted", value);
    let lost = busiest.map(|_| share.figure().at_least(MIN_STEAL));
    let wanted = Measurement::share("cpu_wanted", wanted).at_least(MIN_WANTED);
    let room = Measurement::share("idle", idle);
    let report = out.report(share, format!("CPU steal is {steal} ({part} of what the VM tried to use)"));
    // While CPUs idle, whoever wants one has one: what is stolen of them is a size, and no shortage.
    let has_room = idle >= thresholds::CPU_ROOM.value;
    report
        .at_most(if has_room { Severity::Notice } else { Severity::Critical })
        .subject(Subject::default())
        .cause("The machine is virtual, and its CPUs are shared: others on the same hardware run in this time, or a limit of its size holds it back. Everything in it takes that much longer.")
        .fix("move it to another host, or to a size with CPUs of its own (dedicated, not burstable)")
        .fix("a burstable size: see the balance of its credits at the provider; spread the work over time, or pay for unlimited")
        .fix("your own hypervisor: fewer virtual CPUs in all than it has real ones, or pin and weigh them")
        .verify("vmstat 1 (st), sar -u 1; perf sched timehist shows nothing: the machine does not see it")
        .measured_all([steal, part, wanted, room])
        .measured_all(lost)
        .evidence_of(&Entity::Host, &[Metric::CpuSteal, Metric::CpuIdle, Metric::CpuIowait, Metric::Runnable])
        .file();
}

/// The largest part of its time that a recorded thread had a CPU; `None` where none was recorded.
#[gated]
fn busiest(facts: &Facts) -> Option<f64> {
    let times = facts.world.threads.iter().filter_map(|(_, thread)| thread.sched.as_deref());
    let parts = times.filter_map(|time| {
        let wall = time.wall().get().filter(|wall| *wall > 0)?;
        Some((time.on_cpu_ns as f64 / wall as f64).min(1.0))
    });
    parts.max_by(f64::total_cmp)
}
