//! Why a rule has no finding: the need that is missing, or where its guards turned each candidate down, with the figures. All rules are asked
//! as for a diagnosis, so that what is told is what happened.

use crate::diagnose;
use whyslow_facts::Facts;
use whyslow_model::{Finding, NotJudged};
use whyslow_rules::Rule;
use whyslow_rules::gate::{self, Stop};

/// What became of a rule.
pub struct WhyNot {
    /// The rule.
    pub rule: &'static Rule,
    /// Its findings in the diagnosis.
    pub findings: Vec<Finding>,
    /// The titles of what it found, also where it is told in a finding of another rule or not at all.
    pub found: Vec<String>,
    /// What it cannot judge.
    pub not_judged: Vec<NotJudged>,
    /// Where it turned candidates down.
    pub stops: Vec<Stop>,
}

impl WhyNot {
    /// Asks all rules, and tells what became of `rule`.
    pub fn of(facts: &Facts, rule: &'static Rule) -> WhyNot {
        let (diagnosis, watched) = gate::watch(rule.id, || diagnose(facts));
        WhyNot {
            rule,
            findings: diagnosis.findings.into_iter().filter(|finding| finding.id == rule.id).collect(),
            found: watched.found,
            not_judged: diagnosis.not_judged.into_iter().filter(|one| one.id == rule.id).collect(),
            stops: watched.stops,
        }
    }

    /// True where the diagnosis has a finding of the rule.
    pub fn fired(&self) -> bool {
        !self.findings.is_empty()
    }

    /// The stops with figures, the nearest to its threshold first; then the others, as the rule came to them.
    pub fn by_nearness(&self) -> Vec<&Stop> {
        let mut stops: Vec<&Stop> = self.stops.iter().collect();
        stops.sort_by(|a, b| nearest(a).total_cmp(&nearest(b)));
        stops
    }
}

fn nearest(stop: &Stop) -> f64 {
    stop.compared.iter().map(|compared| compared.distance()).fold(f64::INFINITY, f64::min)
}
