//! What each step did, which is best, what is left, and what cannot be claimed.

use super::{Basis, Comparison, SeriesStep, StepChange, StepOutcome, chance};
use crate::kinds::{CostKind, about, sentence, short};

/// Kinds that are overhead: no program is there for them.
const OVERHEAD: [CostKind; 5] = [
    CostKind::GarbageCollection,
    CostKind::Allocation,
    CostKind::Locking,
    CostKind::Scheduling,
    CostKind::PageFault,
];
/// What two equal runs may differ by, chance aside: points of a share (0 to 1), and the part of a time.
pub(super) const POINTS: f64 = 0.05;
pub(super) const RATIO: f64 = 0.10;
/// A share that changed by this is told, so that a small kind that multiplied is seen too.
const TOLD_POINTS: f64 = 0.02;
/// Changes told of a step.
const MOST_TOLD: usize = 4;

pub(super) fn judge(comparison: &mut Comparison, steps: &[&SeriesStep]) {
    for at in 1..steps.len() {
        let change = change(comparison, steps, at);
        comparison.changes.push(change);
    }
    comparison.best = best(comparison, steps);
    let last = comparison.best.map_or(steps.len() - 1, |best| best - 1);
    comparison.left = sentence(&steps[last].account, &steps[last].measured);
    comparison.refusals = refusals(comparison, steps);
}

/// The change of a share, where it is worth telling and no chance: how large, and in words.
fn told(
    name: &str,
    before: (&SeriesStep, Option<f64>),
    after: (&SeriesStep, Option<f64>),
) -> Option<(f64, String)> {
    let (one, other) = (before.1?, after.1?);
    let difference = (other - one).abs();
    let is_chance = chance::shares_differ((before.0, one), (after.0, other)) == Some(false);
    (difference >= TOLD_POINTS && !is_chance).then(|| (difference, format!("{name} {}", points(one, other))))
}

fn change(comparison: &Comparison, steps: &[&SeriesStep], at: usize) -> StepChange {
    let (before, after) = (steps[at - 1], steps[at]);
    let at_least = match before.account.is_table || after.account.is_table {
        true => " (of what the tables show)",
        false => "",
    };
    let kinds = comparison.kinds.iter().filter(|row| row.name != CostKind::Unknown.words());
    let mut kinds: Vec<(f64, String)> = kinds
        .filter_map(|row| told(&row.name, (before, row.shares[at - 1]), (after, row.shares[at])))
        .collect();
    kinds.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut parts: Vec<String> =
        kinds.into_iter().take(MOST_TOLD).map(|(_, text)| format!("{text}{at_least}")).collect();
    // A function's own figure is exact, also in a table.
    let function = comparison
        .functions
        .iter()
        .filter_map(|row| told(&short(&row.name), (before, row.shares[at - 1]), (after, row.shares[at])));
    parts.extend(function.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, text)| text));
    let mut outcome = outcome(comparison, steps, at);
    // Code that became faster takes a smaller part than before.
    let is_alike = parts.is_empty() && comparison.basis == Basis::Second && outcome == StepOutcome::Better;
    // Where only parts are known, other parts without more overhead are neither better nor worse.
    let is_other = !parts.is_empty() && comparison.basis == Basis::Share && outcome == StepOutcome::Same;
    if is_alike || is_other {
        outcome = StepOutcome::Unknown;
    }
    let total = match (comparison.steps[at - 1].value, comparison.steps[at].value) {
        (Some(before), Some(after)) => format!("{}: ", comparison.amounts(before, after)),
        _ => String::new(),
    };
    let word = match outcome {
        _ if is_alike => "less was done rather than faster: all parts became smaller alike",
        StepOutcome::Better if comparison.basis == Basis::Second => "better, if no less was done",
        StepOutcome::Better => "better",
        StepOutcome::Worse if comparison.basis == Basis::Second => "worse, if no more was done",
        StepOutcome::Worse => "worse",
        StepOutcome::Same => "no change beyond noise",
        StepOutcome::Unknown => "whether that is better cannot be told from these profiles",
    };
    let changes = if parts.is_empty() { "no kind changed by 2 points".to_string() } else { parts.join(", ") };
    let hint = hint(steps, at).map(|hint| format!("; {hint}")).unwrap_or_default();
    StepChange {
        step: at + 1,
        name: after.name.clone(),
        outcome,
        text: format!("{total}{changes}: {word}{hint}"),
    }
}

fn outcome(comparison: &Comparison, steps: &[&SeriesStep], at: usize) -> StepOutcome {
    let (before, after) = (steps[at - 1], steps[at]);
    if let (Some(one), Some(other)) = (comparison.steps[at - 1].value, comparison.steps[at].value)
        && one > 0.0
    {
        return match other / one {
            _ if is_chance(comparison.basis, before, after) => StepOutcome::Same,
            ratio if ratio > 1.0 + RATIO => StepOutcome::Worse,
            ratio if ratio < 1.0 - RATIO => StepOutcome::Better,
            _ => StepOutcome::Same,
        };
    }
    // Only parts are known. More overhead is worse whatever the work; less may only mean that the rest grew.
    match grew(before, after, &OVERHEAD) {
        Some(points) if points >= POINTS => StepOutcome::Worse,
        Some(points) if points.abs() < POINTS && !after.account.is_table => StepOutcome::Same,
        _ => StepOutcome::Unknown,
    }
}

/// True where the totals differ by no more than chance.
fn is_chance(basis: Basis, before: &SeriesStep, after: &SeriesStep) -> bool {
    let of = |step: &SeriesStep| step.account.total;
    chance::values_differ(basis, (before, of(before)), (after, of(after))) == Some(false)
}

/// By how many points the share of these kinds grew, those left out that a table does not show; `None`: nothing is known
/// of them. What may be chance is no growth.
fn grew(before: &SeriesStep, after: &SeriesStep, kinds: &[CostKind]) -> Option<f64> {
    let known = |step: &SeriesStep, kind: CostKind| {
        let share = step.account.share(kind);
        (share > 0.0 || !step.account.is_table).then_some(share)
    };
    let pairs = kinds.iter().filter_map(|kind| Some((known(before, *kind)?, known(after, *kind)?)));
    let (one, other) = pairs.reduce(|sum, pair| (sum.0 + pair.0, sum.1 + pair.1))?;
    match chance::shares_differ((before, one), (after, other)) {
        Some(false) => Some(0.0),
        _ => Some(other - one),
    }
}

/// Why a step may have done that.
fn hint(steps: &[&SeriesStep], at: usize) -> Option<&'static str> {
    let by = |kinds: &[CostKind]| grew(steps[at - 1], steps[at], kinds).unwrap_or(0.0);
    if by(&[CostKind::Locking, CostKind::Scheduling]) >= POINTS {
        return Some(
            "threads meet in a lock that they did not meet in before: a lock around too much, or taken for every item",
        );
    }
    if by(&[CostKind::GarbageCollection, CostKind::Allocation]) >= POINTS {
        return Some("more memory is taken and thrown away than before");
    }
    (by(&[CostKind::SystemCall]) >= POINTS)
        .then_some("more of it is spent in the kernel: more calls, or smaller ones")
}

/// The step with the least cost, where some other one costs more than chance makes it.
fn best(comparison: &Comparison, steps: &[&SeriesStep]) -> Option<usize> {
    let values: Option<Vec<f64>> = comparison.steps.iter().map(|step| step.value).collect();
    let least = |values: &[f64]| (0..values.len()).min_by(|a, b| values[*a].total_cmp(&values[*b]));
    if let Some(values) = values {
        let least = least(&values)?;
        let is_dearer = |at: &usize| {
            values[*at] * (1.0 - RATIO) > values[least]
                && !is_chance(comparison.basis, steps[least], steps[*at])
        };
        return (0..steps.len()).any(|at| is_dearer(&at)).then_some(least + 1);
    }
    if steps.iter().any(|step| step.account.is_table) {
        return None;
    }
    let overhead = |step: &&SeriesStep| OVERHEAD.iter().map(|kind| step.account.share(*kind)).sum::<f64>();
    let shares: Vec<f64> = steps.iter().map(overhead).collect();
    let least = least(&shares)?;
    let is_dearer = |at: usize| grew(steps[least], steps[at], &OVERHEAD).is_some_and(|by| by >= POINTS);
    (0..steps.len()).any(is_dearer).then_some(least + 1)
}

fn refusals(comparison: &Comparison, steps: &[&SeriesStep]) -> Vec<String> {
    let mut refusals = Vec::new();
    let changed = || comparison.changes.iter().any(|change| change.outcome != StepOutcome::Same);
    match comparison.basis {
        Basis::Share => refusals.push(
            "How much faster is not said: the profiles do not all say how long they ran, and totals of runs of unknown length are not compared. Give the work done in each: --per requests=1000,1200".to_string(),
        ),
        Basis::Second if changed() => refusals.push(
            "Less time on the CPU per second can also be less work: give the work done in each (--per requests=1000,1200) to tell them apart.".to_string(),
        ),
        Basis::Second | Basis::Work | Basis::Amount => {}
    }
    if comparison.basis == Basis::Work {
        refusals
            .extend(steps.windows(2).enumerate().filter_map(|(at, pair)| less_work(comparison, at, pair)));
    }
    if steps.iter().any(|step| step.account.is_table) {
        refusals.push("Tables show their largest functions only: a kind has at least what is said, and what a table does not show is unknown, not zero.".to_string());
    }
    refusals
}

/// That a step did less, a second where that is known.
fn less_work(comparison: &Comparison, at: usize, pair: &[&SeriesStep]) -> Option<String> {
    let (before, after) = (pair.first()?, pair.last()?);
    let unit = comparison.work_unit.as_deref().unwrap_or("units of work");
    let rate = |step: &SeriesStep| Some(step.work? / step.seconds?);
    match (rate(before), rate(after)) {
        (Some(one), Some(other)) => (other < one * (1.0 - RATIO)).then(|| {
            format!("Step {} did less work: {one:.1} {unit} per second before, {other:.1} now.", at + 2)
        }),
        _ => {
            let (one, other) = (before.work?, after.work?);
            let text = format!(
                "Step {} did less work: {one} {unit} before, {other} now. It is no faster for that.",
                at + 2
            );
            (other < one * (1.0 - RATIO)).then_some(text)
        }
    }
}

/// `3.0 % -> 21 % (6.9x), +17.8 points`.
pub(super) fn points(before: f64, after: f64) -> String {
    let factor = match before {
        before if before > 0.0 && after / before >= 1.05 => format!(" ({:.1}x)", after / before),
        _ => String::new(),
    };
    format!("{} -> {}{factor}, {:+.1} points", about(before), about(after), (after - before) * 100.0)
}
