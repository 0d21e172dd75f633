//! Compares profiles of one program: what each step of a series did to each kind of cost, which is best, what is left.
//!
//! Raw times of runs of different length are never compared: only parts of the whole, time a second of the run, or
//! time a unit of work.

mod chance;
mod judge;
mod regress;
mod step;
mod text;

pub use regress::{Regression, regressions};
pub use step::SeriesStep;

use crate::kinds::{CostKind, Measure, Measured};
use serde::Serialize;

/// What the figures are relative to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// A unit of work.
    Work,
    /// A second of the run: for CPU the number of CPUs kept busy.
    Second,
    /// Each profile's own total: parts only.
    Share,
    /// Nothing: amounts as they are (memory in use, goroutines at one moment).
    Amount,
}

impl Basis {
    /// The best basis that all steps have.
    fn best(steps: &[&SeriesStep]) -> Basis {
        let accumulates =
            |step: &&SeriesStep| !matches!(step.measured.measure, Measure::MemoryInUse | Measure::Threads);
        if steps.iter().all(|step| step.work.is_some_and(|work| work > 0.0)) {
            Basis::Work
        } else if !steps.iter().all(accumulates) {
            Basis::Amount
        } else if steps.iter().all(|step| step.seconds.is_some()) {
            Basis::Second
        } else {
            Basis::Share
        }
    }

    /// A value of a step, relative to this; `None` where only shares can be compared.
    fn of(self, step: &SeriesStep, value: f64) -> Option<f64> {
        match self {
            Basis::Work => step.work.map(|work| value / work),
            Basis::Second => step.seconds.map(|seconds| value / seconds),
            Basis::Share => None,
            Basis::Amount => Some(value),
        }
    }
}

/// A figure over the steps.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompareRow {
    /// Of what: a kind, a function.
    pub name: String,
    /// The part of each step's total, 0 to 1; `None`: the profile does not show it.
    pub shares: Vec<Option<f64>>,
    /// The value of each step, relative to the basis; `None` as above, or where only shares can be compared.
    pub values: Vec<Option<f64>>,
    /// Whether the shares of the first and the last step differ by more than chance; `None`: unknown.
    pub beyond_chance: Option<bool>,
}

/// What became of the whole in a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum StepOutcome {
    /// Less cost.
    Better,
    /// More cost.
    Worse,
    /// No change that matters.
    Same,
    /// The profiles do not tell.
    Unknown,
}

/// What a step did.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StepChange {
    /// The step's place in the series, from 1.
    pub step: usize,
    /// Its name.
    pub name: String,
    /// What became of the whole.
    pub outcome: StepOutcome,
    /// In words.
    pub text: String,
}

/// One profile, in the comparison.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StepTotal {
    /// Its name.
    pub name: String,
    /// The sum of its values, in its unit.
    pub total: f64,
    /// The sum, as people read it.
    pub total_text: String,
    /// How many samples that rests on, or at least how many; `None`: unknown.
    pub samples: Option<u64>,
    /// How long was profiled, seconds.
    pub seconds: Option<f64>,
    /// Units of work.
    pub work: Option<f64>,
    /// The sum, relative to the basis.
    pub value: Option<f64>,
}

/// The whole comparison. Serialised as `whyslow.profile-diff/1`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Comparison {
    /// Always `whyslow.profile-diff/1`.
    pub schema: &'static str,
    /// What the figures are relative to.
    pub basis: Basis,
    /// The unit of work: `requests`; `None` where none was given.
    pub work_unit: Option<String>,
    /// The profiles.
    pub steps: Vec<StepTotal>,
    /// What each step but the first did, against the one before it.
    pub changes: Vec<StepChange>,
    /// Kinds of cost.
    pub kinds: Vec<CompareRow>,
    /// Functions by their own cost.
    pub functions: Vec<CompareRow>,
    /// Functions of the program with all below them.
    pub paths: Vec<CompareRow>,
    /// The best step, from 1; `None` where it cannot be told.
    pub best: Option<usize>,
    /// What costs more in the last step than in the best before it.
    pub regressions: Vec<Regression>,
    /// What is left to do, in words.
    pub left: String,
    /// What was not claimed, and why.
    pub refusals: Vec<String>,
    /// How values read.
    #[serde(skip)]
    measured: Measured,
}

impl Comparison {
    /// The name of the JSON schema.
    pub const SCHEMA: &'static str = "whyslow.profile-diff/1";

    /// What the first step's values are multiplied by to stand beside the last one's: for as much work or time; where
    /// neither is known, for the same total.
    pub fn scale_of_first(&self) -> f64 {
        let ratio = |of: fn(&StepTotal) -> Option<f64>| {
            let (first, last) = (of(self.steps.first()?)?, of(self.steps.last()?)?);
            (first > 0.0 && last > 0.0).then_some(last / first)
        };
        let ratio = match self.basis {
            Basis::Work => ratio(|step| step.work),
            Basis::Second => ratio(|step| step.seconds),
            Basis::Share => ratio(|step| Some(step.total)),
            Basis::Amount => None,
        };
        ratio.unwrap_or(1.0)
    }
}

/// Why profiles cannot be compared.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CompareError {
    /// Fewer than two.
    #[error("a comparison needs two profiles or more")]
    TooFew,
    /// One is of CPU, another of memory.
    #[error("{first} is a profile of {first_is}, {other} of {other_is}: these cannot be compared")]
    Different {
        /// The first.
        first: String,
        /// What it measures.
        first_is: String,
        /// The one that differs.
        other: String,
        /// What that measures.
        other_is: String,
    },
}

/// Rows shown of functions and paths.
const MOST_ROWS: usize = 15;
/// A function with less than this part in all steps is not shown.
const SHOWN_SHARE: f64 = 0.01;

/// Compares the steps, in their order. `work_unit` names what [`SeriesStep::work`] counts.
pub fn compare(steps: &[SeriesStep], work_unit: Option<&str>) -> Result<Comparison, CompareError> {
    let [first, .., last] = steps else { return Err(CompareError::TooFew) };
    let is = |step: &SeriesStep| format!("{} in {}", step.measured.measure.words(), step.measured.unit);
    if let Some(other) = steps.iter().find(|step| step.measured != first.measured) {
        return Err(CompareError::Different {
            first: first.name.clone(),
            first_is: is(first),
            other: other.name.clone(),
            other_is: is(other),
        });
    }
    let all: Vec<&SeriesStep> = steps.iter().collect();
    let basis = Basis::best(&all);
    let row = |name: &str, of: &dyn Fn(&SeriesStep) -> Option<f64>| {
        let found: Vec<Option<f64>> = steps.iter().map(of).collect();
        let part = |step: &SeriesStep, found: Option<f64>| found.map(|value| step.account.part(value));
        let ends = [(first, found.first()), (last, found.last())]
            .map(|(step, found)| part(step, found.copied().flatten()).map(|share| (step, share)));
        CompareRow {
            beyond_chance: ends[0].zip(ends[1]).and_then(|(a, b)| chance::shares_differ(a, b)),
            name: name.to_string(),
            shares: steps.iter().zip(&found).map(|(step, found)| part(step, *found)).collect(),
            values: steps
                .iter()
                .zip(&found)
                .map(|(step, found)| found.and_then(|v| basis.of(step, v)))
                .collect(),
        }
    };
    let mut kinds: Vec<CompareRow> = CostKind::ALL
        .into_iter()
        // What a table does not show is no kind.
        .filter(|kind| *kind != CostKind::Unknown || !steps.iter().any(|step| step.account.is_table))
        .filter(|kind| steps.iter().any(|step| step.account.kind(*kind).value != 0.0))
        .map(|kind| {
            row(kind.words(), &|step| {
                let value = step.account.kind(kind).value;
                // What a table does not show is not nothing.
                (value != 0.0 || !step.account.is_table).then_some(value)
            })
        })
        .collect();
    kinds.sort_by(|a, b| largest(b).total_cmp(&largest(a)));
    let by_name = |name: &str, cum: bool| {
        row(name, &|step| {
            let found = step.account.functions.iter().find(|function| function.name == name);
            match found {
                Some(function) => Some(if cum { function.cum } else { function.flat }),
                None => (!step.account.is_table).then_some(0.0),
            }
        })
    };
    let functions = rows(steps, false).iter().map(|name| by_name(name, false)).collect();
    let paths = rows(steps, true).iter().map(|name| by_name(name, true)).collect();
    let totals: Vec<StepTotal> = steps
        .iter()
        .map(|step| StepTotal {
            name: step.name.clone(),
            total: step.account.total,
            total_text: step.measured.value(step.account.total),
            seconds: step.seconds,
            work: step.work,
            samples: step.samples,
            value: basis.of(step, step.account.total),
        })
        .collect();
    let mut comparison = Comparison {
        schema: Comparison::SCHEMA,
        basis,
        work_unit: work_unit.map(str::to_string),
        steps: totals,
        changes: Vec::new(),
        kinds,
        functions,
        paths,
        best: None,
        regressions: regressions(&all),
        left: String::new(),
        refusals: Vec::new(),
        measured: last.measured.clone(),
    };
    judge::judge(&mut comparison, &all);
    Ok(comparison)
}

fn largest(row: &CompareRow) -> f64 {
    row.shares.iter().flatten().copied().fold(0.0, f64::max)
}

/// Names of the functions worth showing: by their own cost, or the program's with all below them.
fn rows(steps: &[SeriesStep], cum: bool) -> Vec<String> {
    let mut found: Vec<(f64, &str)> = Vec::new();
    for step in steps {
        for function in &step.account.functions {
            let value = if cum { function.cum } else { function.flat };
            let share = step.account.part(value);
            // Without stacks a library's function says what it is for by all below it.
            if share < SHOWN_SHARE || cum && !function.is_own && !step.account.is_table {
                continue;
            }
            match found.iter_mut().find(|(_, name)| *name == function.name) {
                Some((known, _)) => *known = known.max(share),
                None => found.push((share, &function.name)),
            }
        }
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    found.into_iter().take(MOST_ROWS).map(|(_, name)| name.to_string()).collect()
}

#[cfg(test)]
mod tests;
