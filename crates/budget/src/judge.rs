//! Limits beside what the runs took: kept, broken, or not judged.

use crate::amounts::Quantity;
use crate::file::{Budget, DefinedLimit};
use crate::limit::{Comparator, LimitSubject};
use crate::measure::{Gauge, RunFigures};
use crate::spread::spread;
use serde::Serialize;

/// What became of a limit.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LimitOutcome {
    /// What was measured keeps to it.
    Kept,
    /// It cannot be said.
    NotJudged,
    /// What was measured does not keep to it.
    Broken,
}

impl LimitOutcome {
    /// The words for it.
    pub fn word(self) -> &'static str {
        match self {
            LimitOutcome::Kept => "kept",
            LimitOutcome::NotJudged => "not judged",
            LimitOutcome::Broken => "broken",
        }
    }
}

/// A limit with what was measured.
#[derive(Clone, PartialEq, Debug)]
pub struct JudgedLimit {
    /// The limit.
    pub defined: DefinedLimit,
    /// What became of it.
    pub outcome: LimitOutcome,
    /// The median of the runs (of findings the most), where all runs have it.
    pub value: Option<f64>,
    /// True where it is that much or more: some of it is missing.
    pub at_least: bool,
    /// Median of the distances from the median, of several runs.
    pub mad: Option<f64>,
    /// What each run took; `None` where it is not known.
    pub runs: Vec<Option<f64>>,
    /// Why it was not judged, or what is missing.
    pub reason: Option<String>,
    /// How to have it judged.
    pub next: Option<String>,
    /// What is worth saying: titles of findings.
    pub note: Option<String>,
}

impl JudgedLimit {
    /// What its amounts are of.
    pub fn quantity(&self) -> Quantity {
        self.defined.limit.subject.quantity()
    }

    /// What was measured, for people.
    pub fn measured_words(&self) -> String {
        let at_least = if self.at_least { "at least " } else { "" };
        self.value
            .map_or("unknown".to_string(), |value| format!("{at_least}{}", self.quantity().words(value)))
    }

    /// One sentence: what was measured, or why it is not judged.
    pub fn sentence(&self) -> String {
        let note = self.note.as_ref().map_or(String::new(), |note| format!(" ({note})"));
        let spread = match (self.mad, self.runs.len()) {
            (Some(mad), runs) => format!(", median of {runs} runs, spread {}", self.quantity().words(mad)),
            _ => String::new(),
        };
        match (self.outcome, &self.reason) {
            (LimitOutcome::NotJudged, Some(reason)) => format!("not judged: {reason}"),
            (LimitOutcome::NotJudged, None) => "not judged".to_string(),
            (_, reason) => {
                let missing = reason.as_ref().map_or(String::new(), |reason| format!("; {reason}"));
                format!("{}{spread}{note}{missing}", self.measured_words())
            }
        }
    }
}

/// All limits with what became of them.
#[derive(Clone, PartialEq, Debug)]
pub struct BudgetReport {
    /// The budget's file, as it was named.
    pub file: String,
    /// Runs measured.
    pub runs: usize,
    /// The limits: those of the budget in its order, then those of the baseline.
    pub limits: Vec<JudgedLimit>,
}

impl BudgetReport {
    /// Broken where one limit is; else not judged where one is.
    pub fn outcome(&self) -> LimitOutcome {
        self.limits.iter().map(|limit| limit.outcome).max().unwrap_or(LimitOutcome::NotJudged)
    }

    /// How many limits ended so.
    pub fn count(&self, outcome: LimitOutcome) -> usize {
        self.limits.iter().filter(|limit| limit.outcome == outcome).count()
    }

    /// `2 of 5 limits broken, 1 not judged`
    pub fn summary(&self) -> String {
        let (all, broken, open) =
            (self.limits.len(), self.count(LimitOutcome::Broken), self.count(LimitOutcome::NotJudged));
        let limits = if all == 1 { "1 limit" } else { &format!("{all} limits") };
        match (broken, open) {
            (0, 0) => format!("{limits} kept"),
            (0, open) => format!("{open} of {limits} not judged, the others kept"),
            (broken, 0) => format!("{broken} of {limits} broken"),
            (broken, open) => format!("{broken} of {limits} broken, {open} not judged"),
        }
    }
}

/// Judges `limits` by what each of `runs` took of them.
pub fn judge(budget: &Budget, limits: &[DefinedLimit], runs: &[RunFigures]) -> BudgetReport {
    let judged = limits.iter().enumerate().map(|(at, defined)| {
        let gauges: Vec<&Gauge> = runs.iter().filter_map(|run| run.0.get(at)).collect();
        one(defined, &gauges)
    });
    BudgetReport { file: budget.file.clone(), runs: runs.len(), limits: judged.collect() }
}

fn one(defined: &DefinedLimit, gauges: &[&Gauge]) -> JudgedLimit {
    let value_of = |gauge: &&Gauge| match gauge {
        Gauge::Known { value, .. } | Gauge::AtLeast { value, .. } => Some(*value),
        Gauge::Unknown { .. } => None,
    };
    let runs: Vec<Option<f64>> = gauges.iter().map(value_of).collect();
    let mut judged = JudgedLimit {
        defined: defined.clone(),
        outcome: LimitOutcome::NotJudged,
        value: None,
        at_least: gauges.iter().any(|gauge| matches!(gauge, Gauge::AtLeast { .. })),
        mad: None,
        runs,
        reason: None,
        next: None,
        note: None,
    };
    for gauge in gauges {
        match gauge {
            Gauge::Known { note: Some(note), .. } => judged.note = Some(note.clone()),
            Gauge::AtLeast { why, .. } if judged.next.is_none() => judged.reason = Some(why.clone()),
            Gauge::Unknown { why, next } => {
                judged.reason = Some(why.clone());
                judged.next = Some(next.clone());
            }
            _ => {}
        }
    }
    let known: Option<Vec<f64>> = judged.runs.iter().copied().collect();
    let Some(known) = known.filter(|known| !known.is_empty()) else {
        return judged;
    };
    let (median, mad) = spread(&known);
    let value = match defined.limit.subject {
        // One run that shows it is enough.
        LimitSubject::Finding(_) => known.iter().copied().fold(0.0, f64::max),
        _ => median,
    };
    judged.value = Some(value);
    judged.mad =
        (known.len() > 1 && !matches!(defined.limit.subject, LimitSubject::Finding(_))).then_some(mad);
    let (comparator, amount) = (defined.limit.comparator, defined.limit.amount);
    let keeps = comparator.keeps(value, amount);
    judged.outcome = match (judged.at_least, keeps, comparator) {
        (false, true, _) => LimitOutcome::Kept,
        (false, false, _) => LimitOutcome::Broken,
        // What is missing can only make it more.
        (true, false, Comparator::AtMost | Comparator::Below) => LimitOutcome::Broken,
        (true, _, Comparator::Exactly) if value > amount => LimitOutcome::Broken,
        (true, true, Comparator::AtLeast) => LimitOutcome::Kept,
        (true, ..) => LimitOutcome::NotJudged,
    };
    judged
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limit::BudgetLimit;

    fn outcome(limit: &str, gauges: &[Gauge]) -> LimitOutcome {
        let limit = BudgetLimit::parse(limit).unwrap();
        one(&DefinedLimit { limit, why: None, line: None }, &gauges.iter().collect::<Vec<_>>()).outcome
    }

    fn known(value: f64) -> Gauge {
        Gauge::Known { value, note: None }
    }

    #[test]
    fn the_median_of_the_runs_is_judged() {
        assert_eq!(outcome("stat <= 10", &[known(9.0), known(10.0), known(40.0)]), LimitOutcome::Kept);
        assert_eq!(outcome("stat <= 10", &[known(11.0), known(10.0), known(40.0)]), LimitOutcome::Broken);
        assert_eq!(outcome("stat >= 10", &[known(9.0)]), LimitOutcome::Broken);
    }

    #[test]
    fn one_run_with_the_finding_is_enough() {
        assert_eq!(
            outcome("finding:any = none", &[known(0.0), known(1.0), known(0.0)]),
            LimitOutcome::Broken
        );
    }

    #[test]
    fn what_is_unknown_is_never_kept() {
        let unknown = Gauge::Unknown { why: "no requests".to_string(), next: String::new() };
        assert_eq!(outcome("stat <= 10/request", &[known(1.0), unknown]), LimitOutcome::NotJudged);
        assert_eq!(outcome("stat <= 10", &[]), LimitOutcome::NotJudged);
        let part = |value| Gauge::AtLeast { value, why: "3 calls are missing".to_string() };
        assert_eq!(outcome("stat <= 10", &[part(9.0)]), LimitOutcome::NotJudged);
        assert_eq!(outcome("stat <= 10", &[part(11.0)]), LimitOutcome::Broken);
        assert_eq!(outcome("stat = 10", &[part(11.0)]), LimitOutcome::Broken);
        assert_eq!(outcome("stat >= 10", &[part(11.0)]), LimitOutcome::Kept);
    }
}
