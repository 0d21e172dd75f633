//! # cpu-throttled
//!
//! ## What it is
//! A control group (a container, a unit) has used up its CPU quota before the period is over, again and again: the kernel
//! stops all of its threads until the next period, usually of 100 ms.
//!
//! ## Why it is slow
//! A request that arrives meanwhile waits for up to a whole period, though the host may be idle. The mean CPU use looks
//! low: eight threads use up a quota of two CPUs in 25 ms, and stand still for 75.
//!
//! ## Example
//! ```text
//! /kubepods/pod7/api: throttled in 62.0 % of its periods; 1.31 s/s of throttled time, 1.02 CPUs used of 2
//! ```
//!
//! ## What to do instead
//! A higher quota, or none (weights are enough to share a host); a burst (`cpu.max.burst`); as many threads as the quota
//! pays for.
//!
//! ## When it is wrong
//! Batch work with a quota is meant to be slowed: where the group's programs only compute, and no requests to them are seen, it is a
//! notice. Below one period in twenty nothing is said. In a recording the quota of a group in which none of the recorded processes is
//! another program's matter.

use super::{holders, queue};
use crate::engine::{Findings, Need, Rule};
use crate::figures;
use crate::gate::gated;
use crate::guards::{self, Share};
use crate::network::asked;
use crate::words;
use whyslow_facts::Facts;
use whyslow_facts::host::{Reading, Thing};
use whyslow_hostcheck::thresholds;
use whyslow_model::{Entity, Measurement, Metric, Severity, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "cpu-throttled",
    group: "cpu",
    summary: "a control group's CPU quota stops its threads",
    source: include_str!("cpu_throttled.rs"),
    needs: &[Need::Either(&[
        figures::groups(&[Metric::CpuPeriods, Metric::ThrottledPeriods]),
        Need::Growth(&[Metric::CpuPeriods, Metric::ThrottledPeriods]),
    ])],
    check,
};

/// From this part of the periods on (guard 1).
const MIN_PERIODS: f64 = thresholds::THROTTLED.value;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let groups = facts.host.things_that(|of| matches!(of, Entity::Cgroup(_)));
    let mut worst: Vec<_> = groups
        .into_iter()
        .filter_map(|(of, thing)| {
            Some((queue::throttled(thing).filter(|part| *part >= MIN_PERIODS)?, of, thing))
        })
        .collect();
    worst.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    for (part, of, thing) in worst {
        report(facts, out, part, of, thing);
    }
}

fn report(facts: &Facts, out: &mut Findings<'_>, part: f64, of: &Entity, thing: &Thing) {
    let used = figures::cpu(thing);
    let stopped = thing.current(Metric::ThrottledTime);
    // Between dumps at unknown times both are seconds, and no rates.
    let grown = |metric| thing.grown(metric).map(Reading::sum);
    let ran = grown(Metric::TaskUser).zip(grown(Metric::TaskSystem)).map(|(user, system)| user + system);
    let both = (stopped.zip(used)).or_else(|| grown(Metric::ThrottledTime).zip(ran)).unzip();
    let share = match both {
        (Some(stopped), Some(used)) if stopped + used > 0.0 => {
            Share::of_time(stopped / (stopped + used), format!("the time in which {of} could run"))
        }
        _ => Share::of_time(part, format!("the periods of {of}")),
    };
    let members = figures::members(facts, of.name());
    let names: Vec<String> = members.iter().map(|(of, _)| facts.host.name_of(of)).collect();
    // Where one of the processes that were asked about is in it, the finding is about that one.
    let asked = members.iter().filter_map(|(of, _)| of.pid());
    let asked: Vec<_> = asked.filter(|pid| facts.world.threads.last_process(*pid).is_some()).collect();
    // The quota of a group in which nobody is that was asked about is another program's matter.
    if guards::records_programs(facts) && asked.is_empty() && !members.is_empty() {
        return;
    }
    let of_group = figures::subject(facts, of);
    let subject = match asked[..] {
        [pid] => Subject { pid: Some(pid), ..of_group },
        _ => of_group,
    };
    let computing: Vec<_> = queue::waiters(facts, members);
    // Who answers requests makes somebody wait, however seldom it waits itself.
    let batch =
        !computing.is_empty() && !asked::serves(facts) && !computing.iter().any(queue::Waiter::serves);
    let part = Measurement::share("share_of_periods", part).at_least(MIN_PERIODS);
    let quota = thing.current(Metric::CpuQuota).map(|cpus| Measurement::number("cpu_quota", cpus));
    let limit = quota.as_ref().map_or(String::new(), |quota| format!(" of {quota} CPUs"));
    let used = used.map(|used| Measurement::seconds_per_second("cpus_used", used));
    let use_of = used.as_ref().map_or(String::new(), |used| format!(" It used {used} CPUs on average."));
    let whose = match names.len() {
        0 => String::new(),
        _ => format!(" In it: {}.", words::list(&names, 3)),
    };
    let work = if batch {
        " Its programs only compute, so this is the speed that the quota gives them."
    } else {
        ""
    };
    let pids: Vec<_> = computing.iter().filter_map(|one| one.of.pid()).collect();
    let stopped = holders::of_quota(facts, &pids);
    let nobody = stopped.as_ref().map_or(String::new(), |part| {
        format!(" Of what its threads waited for a CPU, {part} began with the quota used up: no other program kept them waiting.")
    });
    let path = of.name();
    out.report(share, format!("{path} is stopped by its CPU quota{limit} in {part} of its periods"))
        .at_most(if batch { Severity::Notice } else { Severity::Critical })
        .subject(subject)
        .cause(format!("Its threads use up the quota together before the period is over, and then all stand still until the next one, whoever is in the middle of a request.{use_of}{whose}{work}{nobody}"))
        .fix(format!("raise the quota or take it away: echo 'max 100000' > /sys/fs/cgroup{path}/cpu.max (systemd: CPUQuota=, Docker: --cpus, Kubernetes: limits.cpu); cpu.weight still shares the host"))
        .fix("fewer threads that run at once: GOMAXPROCS, -XX:ActiveProcessorCount, the size of the pool, as the quota pays for")
        .fix(format!("for short bursts: echo 100000 > /sys/fs/cgroup{path}/cpu.max.burst"))
        .verify(format!("grep . /sys/fs/cgroup{path}/cpu.stat twice (nr_throttled stands still)"))
        .measured(part)
        .measured_all(quota.into_iter().chain(used).chain(stopped))
        .evidence_of(of, &[Metric::CpuPeriods, Metric::ThrottledPeriods, Metric::ThrottledTime, Metric::TaskUser, Metric::TaskSystem, Metric::TaskCpu, Metric::CpuQuota])
        .file();
}
