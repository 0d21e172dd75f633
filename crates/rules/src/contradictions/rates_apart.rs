//! # rates-apart
//!
//! ## What it is
//! Two sources count the same call of the whole host, and their rates differ by more than counting explains.
//!
//! ## Why it is slow
//! It is not: but a saving that is computed from one rate is wrong by as much as the other differs. In one such case a
//! module said 124,724 `lstat` calls a second and `perf stat` 449,931 in four seconds, which is 112,456 a second: 9.8 %
//! less. Either load changed between the two, or one of them loses events, or counts more than the other.
//!
//! ## Example
//! ```text
//! 449931      syscalls:sys_enter_newlstat          4.000941076 seconds time elapsed
//! ```
//!
//! ## What to do instead
//! Count with both at the same time, over the same seconds. If they still differ, believe `perf stat`: it counts in the
//! kernel and loses nothing.
//!
//! ## When it is wrong
//! A load that changes from second to second has different rates at different moments; below 5 % nothing is said. Where
//! both tell when they looked, and it was not the same time, they are not compared.

use crate::engine::{Findings, Need, Rule};
use crate::gate::gated;
use crate::guards;
use whyslow_facts::Facts;
use whyslow_model::{Measurement, Metric, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "rates-apart",
    group: "contradictions",
    summary: "two sources count the same call at different rates",
    source: include_str!("rates_apart.rs"),
    needs: &[Need::Figures(
        &[Metric::Calls],
        "how often calls are made on the whole host",
        "perf stat -e syscalls:sys_enter_newlstat -a sleep 10 > perf-stat.txt 2>&1",
    )],
    check,
};

/// Of the larger rate: counters of one time agree within 1 %, and looks one after the other within this.
const APART: f64 = 0.05;
/// Calls a second: of few calls a few more are much.
const MIN_RATE: f64 = 1_000.0;
/// Findings of this rule in one diagnosis.
const MOST: usize = 3;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let told = facts.host.told_of_functions(Metric::Calls);
    let mut pairs = Vec::new();
    for (at, (name, a_of, a)) in told.iter().enumerate() {
        for (other, b_of, b) in &told[at + 1..] {
            let two_sources = a.tool != b.tool || a.source != b.source;
            let (high, low) = (a.mean().max(b.mean()), a.mean().min(b.mean()));
            let apart = (high - low) / high.max(f64::MIN_POSITIVE);
            if name == other && two_sources && a.may_be_of_one_time(b) && high >= MIN_RATE && apart >= APART {
                pairs.push((apart, *name, (*a_of, *a), (*b_of, *b)));
            }
        }
    }
    pairs.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    for (apart, name, (a_of, a), (b_of, b)) in pairs.into_iter().take(MOST) {
        let clocks = a.to.is_known() && b.to.is_known();
        let when = match clocks {
            true => {
                "They looked within ten seconds of each other: unless the load changed just then, one of them loses events, or counts other calls too."
            }
            false => {
                "One of them shows no time: the rate itself may have changed between the two looks; or one of them loses events."
            }
        };
        let rate = |name, rate| guards::passed(Measurement::per_second(name, rate), MIN_RATE);
        let rates = [rate("calls_per_second", a.mean()), rate("calls_per_second_by_other", b.mean())];
        let apart = Measurement::share("share_apart", apart).at_least(APART);
        out.disagreement(format!(
            "{name} is called {}/s by {} and {}/s by {}: {apart} apart",
            rates[0], a.tool, rates[1], b.tool,
        ))
        .measured_all(rates)
        .measured(apart)
        .subject(Subject { function: Some(name.to_string()), ..Subject::default() })
        .cause(format!("{when} Each figure that is computed from these rates is uncertain by as much."))
        .fix("count with both at the same time, over the same seconds; believe perf stat, which counts in the kernel and loses nothing")
        .evidence_of(a_of, &[Metric::Calls])
        .evidence_of(b_of, &[Metric::Calls])
        .verify(format!("perf stat -e 'syscalls:sys_enter_*{name}' -a sleep 10"))
        .file();
    }
}
