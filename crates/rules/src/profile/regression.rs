//! # regression
//!
//! ## What it is
//! Of several profiles of one program the last one costs more CPU a second than the best of those before it, beyond chance,
//! and a function or a kind of cost has grown by more than the rest.
//!
//! ## Why it is slow
//! What was dear once is done more often, or in a dearer way, since then: a new call in a loop, a lost cache, a new version of a
//! library.
//!
//! ## Example
//! ```text
//! nux.readTcp: 0.31 CPUs in 3.pprof, 0.62 CPUs in 4.pprof; garbage collection 0.02 CPUs, 0.29 CPUs
//! ```
//!
//! ## What to do instead
//! Look at what was changed between the two profiles, there where the named function is; `whyslow diff A B --flame FILE` shows which
//! of its calls grew.
//!
//! ## When it is wrong
//! More CPU a second may be more work: where all has grown alike it stays quiet, but a load of another kind looks like a change
//! of the code. The work done tells them apart: `whyslow diff A B --per requests=1000,1200`. A program that keeps all of its CPUs
//! busy before and after is not judged by time at all: there only the work done tells. Profiles of different programs, and those
//! that do not say how long they took, are not compared.

use crate::engine::{Findings, Need, Rule};
use crate::gate::gated;
use crate::guards::Share;
use whyslow_facts::{Facts, ProfileFacts};
use whyslow_model::{Measurement, Severity, Subject};
use whyslow_profile::compare::{Regression, SeriesStep, regressions};
use whyslow_profile::kinds::short;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "regression",
    group: "profile",
    summary: "a function or a kind of cost takes more CPU than in an earlier profile",
    source: include_str!("regression.rs"),
    needs: &[Need::ProfileSeries],
    check,
};

/// What became dearer, told of one series.
const MOST: usize = 5;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let series = facts.profiles.series();
    let steps: Vec<&SeriesStep> = series.iter().map(|profile| &profile.step).collect();
    let found = regressions(&steps);
    let (Some(worst), Some(last)) = (found.first(), series.last()) else { return };
    let Some(best) = series.get(worst.best - 1) else { return };
    let (now, then) = (facts.profiled(last), facts.profiled(best));
    let cpus = |a_second: f64| last.step.measured.seconds(a_second).unwrap_or_default();
    let (costs, figures) = times(cpus(worst.before), cpus(worst.after));
    let title = format!("{now}: {} {costs} in {then}", named(worst));
    let busy = |name, profile: &ProfileFacts| {
        Measurement::seconds_per_second(name, profile.step.cpus().unwrap_or(f64::NAN))
    };
    let (all, all_before) = (busy("cpus_used", last), busy("cpus_used_before", best));
    let mut finding = out
        .report(Share::of_cpu_time(worst.part, format!("the CPU time of {now}")), title)
        .at_most(Severity::Warning)
        .subject(Subject { function: (!worst.is_kind).then(|| worst.name.clone()), ..Subject::default() })
        .cause(format!(
            "The program keeps {all} CPUs busy, and {all_before} in {then}. What is named has grown by more than the rest, and by more than \
             samples differ by chance."
        ))
        .measured_all(figures)
        .measured_all([all, all_before])
        .fix(format!("see which calls grew: whyslow diff {then} {now} --flame diff.html"))
        .fix("look at what was changed there between the two, and undo it or do it less often")
        .verify(format!("whyslow diff {then} {now} --per requests=N,M   (the cost of a unit of work; more work is no regression)"));
    for regression in found.iter().take(MOST) {
        finding = finding.evidence_line(
            facts.profile_source(last),
            format!(
                "{}: {:.2} CPUs, {:.2} in {then}",
                named(regression),
                cpus(regression.after),
                cpus(regression.before)
            ),
        );
    }
    finding.file();
}

fn named(regression: &Regression) -> String {
    if regression.is_kind { regression.name.clone() } else { short(&regression.name) }
}

/// `2.10 times as much CPU a second`, with the figures.
#[gated]
fn times(before: f64, after: f64) -> (String, Vec<Measurement>) {
    /// From here on the ratio says nothing but that it was next to nothing before.
    const MOST_TIMES: f64 = 100.0;
    let now = Measurement::seconds_per_second("cpus_of_cost", after);
    let then = Measurement::seconds_per_second("cpus_of_cost_before", before);
    if after < before * MOST_TIMES {
        let ratio = Measurement::number("times_as_much", after / before);
        (format!("costs {ratio} times as much CPU a second as"), vec![ratio, now, then])
    } else {
        (format!("costs {now} CPUs, and next to nothing"), vec![now, then])
    }
}
