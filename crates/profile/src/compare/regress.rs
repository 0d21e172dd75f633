//! What costs more in the last step than in the best of those before it.

use super::judge::{POINTS, RATIO};
use super::{Basis, SeriesStep, chance};
use crate::kinds::{Account, CostKind};
use serde::Serialize;

/// A function or a kind of cost that became dearer.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Regression {
    /// Which.
    pub name: String,
    /// True for a kind of cost, false for a function of the program.
    pub is_kind: bool,
    /// The best step before the last, from 1.
    pub best: usize,
    /// Its cost there, a second of the run or a unit of work.
    pub before: f64,
    /// Its cost in the last step.
    pub after: f64,
    /// What it costs more, as a part of the last step's total (0 to 1).
    pub part: f64,
}

/// Functions and kinds that cost more a unit of work, beyond chance, the most first.
///
/// Where only the length of the runs is known, more a second may be more work: then the whole must have become dearer, and what
/// is named must have grown by more than the rest.
pub fn regressions(steps: &[&SeriesStep]) -> Vec<Regression> {
    let Some((last, before)) = steps.split_last() else { return Vec::new() };
    let basis = Basis::best(steps);
    let total = |step: &SeriesStep| basis.of(step, step.account.total);
    let best = (0..before.len()).min_by(|a, b| {
        let of = |at: usize| total(before[at]).unwrap_or(f64::MAX);
        of(*a).total_cmp(&of(*b))
    });
    let (Some(at), Basis::Work | Basis::Second) = (best, basis) else { return Vec::new() };
    let best = before[at];
    let dearer = |one: f64, other: f64| {
        let grew = basis.of(last, other) > basis.of(best, one).map(|value| value * (1.0 + RATIO));
        grew && chance::values_differ(basis, (best, one), (last, other)) == Some(true)
    };
    let by_second = basis == Basis::Second;
    if by_second && !dearer(best.account.total, last.account.total) {
        return Vec::new();
    }
    let regression = |name: &str, is_kind: bool, one: f64, other: f64| {
        let (before, after) = (basis.of(best, one)?, basis.of(last, other)?);
        let part = (after - before) / total(last)?;
        let share = |step: &SeriesStep, value: f64| step.account.part(value);
        let outgrew = || {
            let (one, other) = (share(best, one), share(last, other));
            other > one && chance::shares_differ((best, one), (last, other)) == Some(true)
        };
        (part >= POINTS && dearer(one, other) && (!by_second || outgrew())).then(|| Regression {
            name: name.to_string(),
            is_kind,
            best: at + 1,
            before,
            after,
            part,
        })
    };
    let kinds = CostKind::ALL.into_iter().filter(|kind| is_told(*kind)).filter_map(|kind| {
        let (one, other) = (best.account.kind(kind).value, last.account.kind(kind).value);
        // What a table does not show is not nothing.
        let is_known = !best.account.is_table || one > 0.0;
        is_known.then(|| regression(kind.words(), true, one, other)).flatten()
    });
    let functions = costs(&last.account, &best.account).into_iter();
    let functions = functions.filter_map(|(name, one, other)| regression(name, false, one, other));
    let mut found: Vec<Regression> = kinds.chain(functions).collect();
    found.sort_by(|a, b| {
        a.is_kind.cmp(&b.is_kind).then(b.part.total_cmp(&a.part)).then_with(|| a.name.cmp(&b.name))
    });
    found
}

/// Kinds that say what is done; the program's own code is told by its functions.
fn is_told(kind: CostKind) -> bool {
    !matches!(kind, CostKind::Program | CostKind::Unknown | CostKind::Idle)
}

/// Functions of `account`, what they cost in `base`, and what here: of stacks the program's own with all that they call
/// outside of it, of tables each by itself.
fn costs<'a>(account: &'a Account, base: &Account) -> Vec<(&'a str, f64, f64)> {
    if account.is_table || base.is_table {
        let of = |name: &str| base.functions.iter().find(|function| function.name == name);
        let functions = account.functions.iter().take(Account::MAX_HOLDERS);
        let known = functions
            .filter_map(|function| Some((function.name.as_str(), of(&function.name)?.flat, function.flat)));
        return known.collect();
    }
    // Of a full list the last says what those may have that are not on it.
    let most = base.holders.get(Account::MAX_HOLDERS - 1).map_or(0.0, |holder| holder.value);
    let of = |name: &str| base.holders.iter().find(|holder| holder.function == name);
    let holders = account.holders.iter();
    holders
        .map(|holder| {
            (holder.function.as_str(), of(&holder.function).map_or(most, |base| base.value), holder.value)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::tests::run;

    fn names(steps: &[&SeriesStep]) -> Vec<String> {
        regressions(steps).into_iter().map(|regression| regression.name).collect()
    }

    #[test]
    fn what_grew_beyond_chance_and_beyond_the_rest() {
        let before = run(&[("main.parse", 400), ("main.send", 400)], 10.0, None);
        let worse = run(&[("main.parse", 1200), ("main.send", 410)], 10.0, None);
        let better = run(&[("main.parse", 100), ("main.send", 390)], 10.0, None);
        assert_eq!(names(&[&before, &worse]), ["main.parse"]);
        // The best before it counts, not the one before it.
        assert_eq!(regressions(&[&better, &worse, &before])[0].best, 1);
        assert!(names(&[&worse, &before]).is_empty(), "it became better");
        let few = run(&[("main.parse", 6), ("main.send", 4)], 10.0, None);
        let some = run(&[("main.parse", 9), ("main.send", 4)], 10.0, None);
        assert!(names(&[&few, &some]).is_empty(), "six and nine samples are chance");
    }

    #[test]
    fn more_work_is_no_regression() {
        let before = run(&[("main.parse", 400), ("main.send", 400)], 10.0, None);
        let doubled = run(&[("main.parse", 800), ("main.send", 790)], 10.0, None);
        assert!(names(&[&before, &doubled]).is_empty());
        // Where the work is known, a unit of it is what counts.
        let (mut before, mut after) = (before, doubled);
        (before.work, after.work) = (Some(1000.0), Some(2000.0));
        assert!(names(&[&before, &after]).is_empty());
        after.work = Some(1100.0);
        assert_eq!(names(&[&before, &after]), ["main.parse", "main.send"]);
    }

    #[test]
    fn another_share_of_the_same_whole_is_no_regression() {
        // A busy loop: what one function gave up the other has.
        let before = run(&[("main.parse", 800), ("main.send", 200)], 10.0, None);
        let after = run(&[("main.parse", 200), ("main.send", 800)], 10.0, None);
        assert!(names(&[&before, &after]).is_empty());
    }
}
