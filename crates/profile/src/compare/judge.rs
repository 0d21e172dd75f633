//! What each step did, which is best, what is left, and what cannot be claimed.

use super::{Basis, Comparison, Outcome, Step, StepChange};
use crate::kinds::{CostKind, about, sentence, short};

/// Kinds that are overhead: no program is there for them.
const OVERHEAD: [CostKind; 5] = [
    CostKind::GarbageCollection,
    CostKind::Allocation,
    CostKind::Locking,
    CostKind::Scheduling,
    CostKind::PageFault,
];
/// What two equal runs may differ by: points of a share (0 to 1), and the part of a time.
const POINTS: f64 = 0.05;
const RATIO: f64 = 0.10;
/// A share that changed by this is told, so that a small kind that multiplied is seen too.
const TOLD_POINTS: f64 = 0.02;
/// Changes told of a step.
const MOST_TOLD: usize = 4;

pub(super) fn judge(comparison: &mut Comparison, steps: &[Step]) {
    for at in 1..steps.len() {
        let change = change(comparison, steps, at);
        comparison.changes.push(change);
    }
    comparison.best = best(comparison, steps);
    let last = comparison.best.map_or(steps.len() - 1, |best| best - 1);
    comparison.left = sentence(&steps[last].account, &steps[last].measured);
    comparison.refusals = refusals(comparison, steps);
}

fn change(comparison: &Comparison, steps: &[Step], at: usize) -> StepChange {
    let mut told: Vec<(f64, String)> = Vec::new();
    for row in comparison.kinds.iter().filter(|row| row.name != CostKind::Unknown.words()) {
        if let (Some(before), Some(after)) = (row.shares[at - 1], row.shares[at])
            && (after - before).abs() >= TOLD_POINTS
        {
            let at_least = steps[at].account.is_table || steps[at - 1].account.is_table;
            let at_least = if at_least { " (of what the tables show)" } else { "" };
            told.push(((after - before).abs(), format!("{} {}{at_least}", row.name, points(before, after))));
        }
    }
    told.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut parts: Vec<String> = told.into_iter().take(MOST_TOLD).map(|(_, text)| text).collect();
    // A function's own figure is exact, also in a table.
    let function = comparison.functions.iter().filter_map(|row| {
        let (before, after) = (row.shares[at - 1]?, row.shares[at]?);
        ((after - before).abs() >= TOLD_POINTS).then(|| ((after - before).abs(), row, before, after))
    });
    if let Some((_, row, before, after)) = function.max_by(|a, b| a.0.total_cmp(&b.0)) {
        parts.push(format!("{} {}", short(&row.name), points(before, after)));
    }
    let outcome = outcome(comparison, steps, at);
    let total = match (comparison.steps[at - 1].value, comparison.steps[at].value) {
        (Some(before), Some(after)) => format!("{}: ", comparison.amounts(before, after)),
        _ => String::new(),
    };
    let word = match outcome {
        Outcome::Better => "better",
        Outcome::Worse => "worse",
        Outcome::Same => "no change beyond noise",
        Outcome::Unknown => "whether that is better cannot be told from these profiles",
    };
    let changes = if parts.is_empty() { "no kind changed by 2 points".to_string() } else { parts.join(", ") };
    let hint = hint(steps, at).map(|hint| format!("; {hint}")).unwrap_or_default();
    StepChange {
        step: at + 1,
        name: steps[at].name.clone(),
        outcome,
        text: format!("{total}{changes}: {word}{hint}"),
    }
}

fn outcome(comparison: &Comparison, steps: &[Step], at: usize) -> Outcome {
    if let (Some(before), Some(after)) = (comparison.steps[at - 1].value, comparison.steps[at].value)
        && before > 0.0
    {
        return match after / before {
            ratio if ratio > 1.0 + RATIO => Outcome::Worse,
            ratio if ratio < 1.0 - RATIO => Outcome::Better,
            _ => Outcome::Same,
        };
    }
    // Only parts are known. More overhead is worse whatever the work; less may only mean that the rest grew.
    let known = OVERHEAD.iter().filter_map(|kind| {
        let (before, after) = (share(&steps[at - 1], *kind)?, share(&steps[at], *kind)?);
        Some(after - before)
    });
    let changes: Vec<f64> = known.collect();
    let sum: f64 = changes.iter().sum();
    match (changes.is_empty(), sum) {
        (false, sum) if sum >= POINTS => Outcome::Worse,
        (false, sum) if sum.abs() < POINTS && !steps[at].account.is_table => Outcome::Same,
        _ => Outcome::Unknown,
    }
}

/// The part of a kind; `None` where a table does not show it.
fn share(step: &Step, kind: CostKind) -> Option<f64> {
    let share = step.account.share(kind);
    (share > 0.0 || !step.account.is_table).then_some(share)
}

/// Why a step may have done that.
fn hint(steps: &[Step], at: usize) -> Option<&'static str> {
    let grew = |kind| {
        let (before, after) = (share(&steps[at - 1], kind)?, share(&steps[at], kind)?);
        Some(after - before)
    };
    let by = |kind| grew(kind).unwrap_or(0.0);
    if by(CostKind::Locking) + by(CostKind::Scheduling) >= POINTS {
        return Some(
            "threads meet in a lock that they did not meet in before: a lock around too much, or taken for every item",
        );
    }
    if by(CostKind::GarbageCollection) + by(CostKind::Allocation) >= POINTS {
        return Some("more memory is taken and thrown away than before");
    }
    (by(CostKind::SystemCall) >= POINTS)
        .then_some("more of it is spent in the kernel: more calls, or smaller ones")
}

/// The step with the least cost.
fn best(comparison: &Comparison, steps: &[Step]) -> Option<usize> {
    let values: Option<Vec<f64>> = comparison.steps.iter().map(|step| step.value).collect();
    let least = |values: &[f64]| (0..values.len()).min_by(|a, b| values[*a].total_cmp(&values[*b]));
    if let Some(values) = values {
        return least(&values).map(|at| at + 1);
    }
    if steps.iter().any(|step| step.account.is_table) {
        return None;
    }
    let overhead = |step: &Step| OVERHEAD.iter().map(|kind| step.account.share(*kind)).sum::<f64>();
    let values: Vec<f64> = steps.iter().map(overhead).collect();
    let (low, high) =
        (values.iter().copied().fold(f64::MAX, f64::min), values.iter().copied().fold(0.0, f64::max));
    (high - low >= POINTS).then(|| least(&values).map(|at| at + 1)).flatten()
}

fn refusals(comparison: &Comparison, steps: &[Step]) -> Vec<String> {
    let mut refusals = Vec::new();
    match comparison.basis {
        Basis::Share => refusals.push(
            "How much faster is not said: the profiles do not all say how long they ran, and totals of runs of unknown length are not compared. Give the work done in each: --per requests=1000,1200".to_string(),
        ),
        Basis::Second => refusals.push(
            "Less time on the CPU a second can also be less work: give the work done in each (--per requests=1000,1200) to tell them apart.".to_string(),
        ),
        Basis::Work | Basis::Amount => {}
    }
    if comparison.basis == Basis::Work {
        for (at, pair) in steps.windows(2).enumerate() {
            let rate = |step: &Step| Some(step.work? / step.seconds?);
            let unit = comparison.work_unit.as_deref().unwrap_or("units of work");
            match (rate(&pair[0]), rate(&pair[1])) {
                (Some(before), Some(after)) if after < before * (1.0 - RATIO) => refusals.push(format!(
                    "Step {} did less work: {before:.1} {unit} a second before, {after:.1} now.",
                    at + 2
                )),
                (None, _) | (_, None) if pair[1].work < pair[0].work.map(|work| work * (1.0 - RATIO)) => {
                    refusals.push(format!(
                        "Step {} did less work: {} {unit} before, {} now. It is no faster for that.",
                        at + 2,
                        pair[0].work.unwrap_or(0.0),
                        pair[1].work.unwrap_or(0.0)
                    ))
                }
                _ => {}
            }
        }
    }
    if steps.iter().any(|step| step.account.is_table) {
        refusals.push("Tables show their largest functions only: a kind has at least what is said, and what a table does not show is unknown, not zero.".to_string());
    }
    refusals
}

/// `3.0 % -> 21 % (6.9x), +17.8 points`.
pub(super) fn points(before: f64, after: f64) -> String {
    let factor = match before {
        before if before > 0.0 && after / before >= 1.05 => format!(" ({:.1}x)", after / before),
        _ => String::new(),
    };
    format!("{} -> {}{factor}, {:+.1} points", about(before), about(after), (after - before) * 100.0)
}
