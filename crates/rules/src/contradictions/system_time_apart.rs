//! # system-time-apart
//!
//! ## What it is
//! Two sources tell different system time of the host, and a saving is computed from it: by one of them it is wrong.
//!
//! ## Why it is slow
//! It is not: but a saving that is told as a part of the system time is only as right as that time. In one such case the
//! time in `lstat` was 338.8 ms a second, the system time "3 % of 96 cores", and the article's 3.456 s. But 3 % of 96
//! CPUs are 2.88 s: the saving is 11.8 %, not 9.8 %; 3.456 s would be 3.6 %.
//!
//! ## Example
//! ```text
//! 10:00:02     all    2.10    0.00    3.00    0.01    0.00    0.00    0.00    0.00    0.00   94.89
//! 10:00:02     all      2.10      0.00      3.60      0.01      0.00     94.29
//! ```
//!
//! ## What to do instead
//! Multiply the share by the number of CPUs yourself; count both over the same seconds: `mpstat 10 1` beside
//! `perf stat -a sleep 10`.
//!
//! ## When it is wrong
//! Some tools count interrupts as system time, others tell them apart. A load that changes has another share at another
//! moment; below half a percentage point, which vmstat's whole percents may hide, nothing is said.

use crate::engine::{Findings, Need, Rule};
use crate::gate::gated;
use crate::words;
use whyslow_facts::Facts;
use whyslow_facts::host::{Reading, call_name};
use whyslow_hostcheck::saved;
use whyslow_model::{Entity, Measurement, Metric, Nanos, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "system-time-apart",
    group: "contradictions",
    summary: "two sources tell different system time, and a saving depends on it",
    source: include_str!("system_time_apart.rs"),
    needs: &[
        Need::Figures(
            &[Metric::CpuSystem],
            "how much of the CPUs' time is system time",
            "mpstat 10 1 > mpstat.txt",
        ),
        Need::Figures(
            &[Metric::CallTime],
            "how long the calls of the whole host take",
            "syscount -L -d 10 > syscount.txt",
        ),
    ],
    check,
};

/// Of all CPUs' time: vmstat shows whole percents, so that less may be its rounding.
const POINTS: f64 = 0.005;
/// Of the larger one.
const APART: f64 = 0.10;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let (Some((call, cost)), Some(cpus), Some(host)) =
        (facts.host.dearest_work(), facts.host.cpu_count(), facts.host.host())
    else {
        return;
    };
    let told: Vec<&Reading> = host
        .readings
        .iter()
        .filter(|reading| reading.metric == Metric::CpuSystem && reading.is_current())
        .collect();
    let pairs = told.iter().enumerate().flat_map(|(at, a)| told[at + 1..].iter().map(move |b| (*a, *b)));
    let apart = |a: &Reading, b: &Reading| (a.mean() - b.mean()).abs();
    let odd = pairs.filter(|(a, b)| {
        let sources = a.tool != b.tool || a.source != b.source;
        let much = apart(a, b) > POINTS && apart(a, b) >= APART * a.mean().max(b.mean());
        sources && much && a.may_be_of_one_time(b)
    });
    let Some((a, b)) = odd.max_by(|x, y| apart(x.0, x.1).total_cmp(&apart(y.0, y.1))) else { return };
    let seconds = |value: f64| Nanos::new((value * 1e9).round() as u64);
    let of = |reading: &Reading| reading.mean() * cpus;
    let name = call_name(call.name());
    let way = |reading: &Reading| {
        let saving = saved(cost, of(reading)).map_or("more than all of it".to_string(), words::percent);
        format!(
            "by {}: {} x {} CPUs = {} per second, of which {} in {name} are {saving}",
            reading.tool,
            words::percent(reading.mean()),
            words::quantity(cpus),
            seconds(of(reading)),
            seconds(cost),
        )
    };
    let (high, points) = (a.mean().max(b.mean()), apart(a, b));
    let lines = [a, b].map(|reading| facts.host_evidence(&Entity::Host, reading));
    out.disagreement(format!(
        "the system time is {} per second by {} and {} by {}: what ending {name} saves depends on it",
        seconds(of(a)),
        a.tool,
        seconds(of(b)),
        b.tool
    ))
    .subject(Subject { function: Some(name.to_string()), ..Subject::default() })
    .cause(format!(
        "The inputs disagree. {}; {}. They looked at different moments, one counts interrupts too, or a share was multiplied by \
         another number of CPUs.",
        way(a),
        way(b)
    ))
    .fix("compute the saving from a share and a number of CPUs of one look, over the seconds in which the calls were counted")
    .measured(Measurement::time("system_time_per_second", seconds(of(a))))
    .measured(Measurement::time("system_time_per_second_by_other", seconds(of(b))))
    .measured(Measurement::share("system_share", a.mean()))
    .measured(Measurement::share("system_share_by_other", b.mean()))
    .measured(Measurement::share("system_share_apart", points).at_least(POINTS))
    .measured(Measurement::share("share_apart", points / high).at_least(APART))
    .measured(Measurement::number("cpus", cpus))
    .measured(Measurement::time("time_in_call_per_second", seconds(cost)))
    .measured_all(saved(cost, of(a)).map(|share| Measurement::share("share_saved", share)))
    .measured_all(saved(cost, of(b)).map(|share| Measurement::share("share_saved_by_other", share)))
    .evidence_line(lines[0].source.clone(), lines[0].text.clone())
    .evidence_line(lines[1].source.clone(), lines[1].text.clone())
    .verify("mpstat 10 1; nproc   (the share of system time, and by how many CPUs it is multiplied)")
    .file();
}
