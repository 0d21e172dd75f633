//! # tracer-attached
//!
//! ## What it is
//! A process is traced by another with ptrace (strace, gdb, some profilers and security agents) while it works.
//!
//! ## Why it is slow
//! The kernel stops it at each system call or signal, twice, and wakes the tracer: six microseconds and more instead of a
//! tenth. A tracer that was forgotten, or hangs, makes a service ten times slower, or stops it.
//!
//! ## Example
//! ```text
//! nginx (812) is traced by strace (900); stopped by it in 62.0 % of the looks
//! ```
//!
//! ## What to do instead
//! Detach it. To look at a program at work, record with BPF (`whyslow record`), which stops nothing.
//!
//! ## When it is wrong
//! Somebody debugs it just now, and knows: a process that is traced and seldom stopped is a notice. A recorder that works by ptrace
//! leaves itself out.

use crate::engine::{Findings, Rule};
use crate::figures;
use crate::gate::gated;
use crate::guards::Share;
use crate::words;
use whyslow_facts::Facts;
use whyslow_model::{Entity, Metric, Severity, Trait};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "tracer-attached",
    group: "process",
    summary: "a process at work is traced and stopped by another",
    source: include_str!("tracer_attached.rs"),
    needs: &[figures::tasks(&[Metric::VoluntarySwitches])],
    check,
};

/// The state of one that its tracer has stopped (proc_pid_stat(5)).
const TRACING_STOP: char = 't';
/// Switches a second from which on it is stopped at each call: two a call.
const MANY_SWITCHES: f64 = 1_000.0;
/// Findings of this rule in one diagnosis.
const MOST: usize = 3;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let traced = facts.host.processes().into_iter().filter_map(|(of, thing)| {
        let tracer = thing.told(Trait::Tracer)?.parse::<u32>().ok().filter(|pid| *pid != 0)?;
        Some((of, thing, tracer))
    });
    for (of, thing, tracer) in traced.take(MOST) {
        let name = facts.host.name_of(of);
        let by = facts.host.name_of(&Entity::Process(tracer));
        let stopped = figures::share_in_state(thing, TRACING_STOP).filter(|share| *share > 0.0);
        let switches = thing.current(Metric::VoluntarySwitches).unwrap_or(0.0);
        let share = stopped.map_or_else(Share::unknown, |share| {
            Share::of_time(share, format!("the looks at {name}, in which it was stopped"))
        });
        let often = match stopped {
            Some(share) => format!("; stopped by it in {} of the looks", words::percent(share)),
            None => String::new(),
        };
        let at_work = switches >= MANY_SWITCHES;
        out.report(share, format!("{name} is traced by {by}{often}"))
            .at_least(if at_work { Severity::Warning } else { Severity::Notice })
            .subject(figures::subject(facts, of))
            .cause(format!("At each system call or signal the kernel stops the process and waits for the tracer to let it go on ({} switches per second).", words::quantity(switches)))
            .fix(format!("see who it is: ps -fp {tracer}; end it (kill {tracer}: strace and gdb let go of the process)"))
            .fix("to look at a program at work, record without stopping it: whyslow record -p PID (BPF), perf trace")
            .verify(format!("grep TracerPid /proc/{}/status   (0)", of.pid().unwrap_or(0)))
            .evidence_of(of, &[Metric::VoluntarySwitches, Metric::TaskUser, Metric::TaskSystem])
            .file();
    }
}
