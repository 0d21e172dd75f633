//! # count-without-rate
//!
//! ## What it is
//! A table counts calls without saying over how long. Another source tells the rate of one of them, so the table's length
//! follows; and then the rate that is claimed of another call does not fit the table's own count.
//!
//! ## Why it is slow
//! It is not: but a wrong rate sends one after the wrong call. In one such case a report claimed 120,000 opens a second.
//! Its table had 227,050 of them beside 1,052,795 `lstat`, which came at 112,456 a second: so the table covers 9.4 s, and
//! there were 24,253 opens a second.
//!
//! ## Example
//! ```text
//! lstat                   1052795
//! openat                   115240
//! open                     111810
//! ```
//!
//! ## What to do instead
//! Count over a known time: `syscount -i 10 -d 10`, `perf stat -a … sleep 10`. Never compare a count with a rate.
//!
//! ## When it is wrong
//! The two calls may not have kept their proportion between the two looks; below half as much again nothing is said.

use crate::engine::{Findings, Need, Rule};
use crate::gate::gated;
use crate::words;
use whyslow_facts::Facts;
use whyslow_facts::host::{Reading, call_family};
use whyslow_model::{Entity, Measurement, Metric, Nanos, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "count-without-rate",
    group: "contradictions",
    summary: "a claimed rate does not fit the counts of a table",
    source: include_str!("count_without_rate.rs"),
    needs: &[
        Need::Figures(&[Metric::CallCount], "how many calls there were", "syscount -d 10 > syscount.txt"),
        Need::Figures(
            &[Metric::Calls],
            "how often calls are made on the whole host",
            "perf stat -e syscalls:sys_enter_openat -a sleep 10 > perf-stat.txt 2>&1",
        ),
    ],
    check,
};

/// The larger rate, of the smaller.
const TIMES: f64 = 1.5;
/// Counts and rates below these are too few to compare.
const MIN_COUNT: f64 = 1_000.0;
const MIN_RATE: f64 = 100.0;

/// Calls that do the same, in one table or by one source.
struct Family<'a> {
    name: &'a str,
    sum: f64,
    parts: Vec<(&'a Entity, &'a Reading)>,
}

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let rates = families(facts, Metric::Calls, |_| true);
    let counts = families(facts, Metric::CallCount, |count| count.seconds <= 0.0);
    for table in sources(&counts) {
        let in_table: Vec<&Family<'_>> = counts.iter().filter(|family| family.is_of(table)).collect();
        // The rate that fits the largest count tells the length best.
        let mut known: Vec<(&Family<'_>, &Family<'_>)> = Vec::new();
        for count in in_table.iter().filter(|count| count.sum >= MIN_COUNT) {
            known.extend(
                rates
                    .iter()
                    .filter(|rate| rate.name == count.name && rate.sum >= MIN_RATE && !rate.is_of(table))
                    .map(|rate| (*count, rate)),
            );
        }
        known.sort_by(|a, b| b.0.sum.total_cmp(&a.0.sum));
        let Some(&(base, base_rate)) = known.first() else { continue };
        let seconds = base.sum / base_rate.sum;
        for (count, rate) in known.into_iter().skip(1).filter(|(count, _)| count.name != base.name) {
            let implied = count.sum / seconds;
            let (high, low) = (implied.max(rate.sum), implied.min(rate.sum));
            if high < TIMES * low {
                continue;
            }
            let rate_of = |name, rate| Measurement::per_second(name, rate);
            let covers = Nanos::new((seconds * 1e9).round() as u64);
            let (claimed, table) = (tool(rate), tool(count));
            let mut found = out
                .disagreement(format!(
                    "{} is said to be called {}/s by {claimed}, but {table} counts {}: {}/s",
                    count.name,
                    words::quantity(rate.sum),
                    words::count(count.sum as u64),
                    words::quantity(implied)
                ))
                .subject(Subject { function: Some(count.name.to_string()), ..Subject::default() })
                .cause(format!(
                    "{table} does not say over how long it counts. It has {} {}, which {} says come at {}/s: so it covers {} s, and {} / {} s = {}/s.",
                    words::count(base.sum as u64),
                    base.name,
                    tool(base_rate),
                    words::quantity(base_rate.sum),
                    words::quantity(seconds),
                    words::count(count.sum as u64),
                    words::quantity(seconds),
                    words::quantity(implied)
                ))
                .fix("count over a known time, all of them at once: perf stat -a -e 'syscalls:sys_enter_open*' -e syscalls:sys_enter_newlstat sleep 10")
                .measured(rate_of("calls_per_second", rate.sum).at_least(MIN_RATE))
                .measured(Measurement::count("calls", count.sum as u64).at_least(MIN_COUNT))
                .measured(rate_of("calls_per_second_by_count", implied))
                .measured(Measurement::number("times_apart", high / low).at_least(TIMES))
                .measured(Measurement::count("calls_of_base", base.sum as u64).at_least(MIN_COUNT))
                .measured(rate_of("calls_per_second_of_base", base_rate.sum).at_least(MIN_RATE))
                .measured(Measurement::time("time_counted", covers))
                .verify(format!("perf stat -a -e 'syscalls:sys_enter_{}*' sleep 10", count.name));
            for (of, _) in count.parts.iter().chain(&base.parts) {
                found = found.evidence_of(of, &[Metric::CallCount]);
            }
            for (of, _) in rate.parts.iter().chain(&base_rate.parts) {
                found = found.evidence_of(of, &[Metric::Calls]);
            }
            found.file();
        }
    }
}

impl Family<'_> {
    fn source(&self) -> Option<(&'static str, whyslow_model::SourceId)> {
        self.parts.first().map(|(_, reading)| (reading.tool, reading.source))
    }
    fn is_of(&self, source: (&'static str, whyslow_model::SourceId)) -> bool {
        self.source() == Some(source)
    }
}

fn tool(family: &Family<'_>) -> &'static str {
    family.source().map_or("?", |(tool, _)| tool)
}

/// The sources of these, each once.
fn sources(families: &[Family<'_>]) -> Vec<(&'static str, whyslow_model::SourceId)> {
    let mut all = Vec::new();
    for source in families.iter().filter_map(Family::source) {
        if !all.contains(&source) {
            all.push(source);
        }
    }
    all
}

/// The readings of functions of the whole host, those of one source and family added.
#[gated]
fn families<'a>(facts: &'a Facts, metric: Metric, wanted: impl Fn(&Reading) -> bool) -> Vec<Family<'a>> {
    let mut families: Vec<Family<'a>> = Vec::new();
    let told = facts.host.told_of_functions(metric);
    for (name, of, reading) in
        told.into_iter().filter(|(.., reading)| reading.is_current() && wanted(reading))
    {
        let name = call_family(name);
        let source = (reading.tool, reading.source);
        match families.iter_mut().find(|family| family.name == name && family.is_of(source)) {
            Some(family) => {
                family.sum += reading.mean();
                family.parts.push((of, reading));
            }
            None => families.push(Family { name, sum: reading.mean(), parts: vec![(of, reading)] }),
        }
    }
    families
}
