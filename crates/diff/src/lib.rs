//! The comparison of two diagnoses: did the change work?
//!
//! Findings are gone, new, kept, or unknown where the second capture cannot judge them. Figures stand side by
//! side with their ratio, but a rate or a "times faster" is refused where the length of a window is unknown, and
//! what two equal runs may differ by ([`noise`]) counts as no change.

mod change;
mod figures;
mod findings;
pub mod noise;
mod outcome;
mod percentiles;
mod requests;
mod windows;

pub use percentiles::two_runs;

use figures::Figures;
use std::collections::BTreeSet;
use whyslow_facts::Facts;
pub(crate) use whyslow_model::figures as words;
use whyslow_model::{Diagnosis, Diff, DiffOutcome, FindingChange, Severity};
use windows::Windows;

/// One of the two: the facts and what was found in them.
#[derive(Clone, Copy)]
pub struct DiffSide<'a> {
    /// The facts.
    pub facts: &'a Facts,
    /// The diagnosis of these facts.
    pub diagnosis: &'a Diagnosis,
}

/// Compares two diagnoses.
pub fn diff(before: DiffSide<'_>, after: DiffSide<'_>) -> Diff {
    let windows = Windows::of(before.facts, after.facts);
    let changes = findings::compare(before.diagnosis, after.diagnosis, before.facts, after.facts);
    let figures = figures::compare(before.facts, after.facts, &windows);
    let no_calls = [before, after].iter().all(|side| side.facts.total_calls() == 0);
    // Of a log or a table of percentiles nothing else is to be had.
    let refusal = windows.refusal().filter(|_| !(no_calls && figures.of_requests));
    let mut refusals: Vec<String> = refusal.into_iter().collect();
    refusals.extend(figures.caveats.iter().cloned());
    let differ = different_programs(before.facts, after.facts);
    refusals.extend(differ.iter().map(|names| {
        format!(
            "The two captures name different programs ({names}): what differs need not be due to a change."
        )
    }));
    let changed = figures.list.iter().any(|figure| figure.beyond_noise == Some(true));
    let outcome = outcome::outcome(&figures.telling, &changes, figures.less_work, changed);
    Diff {
        schema: Diff::SCHEMA,
        outcome,
        verdict: verdict(outcome, &changes, &figures, changed, differ),
        before_ns: before.facts.window.length(),
        after_ns: after.facts.window.length(),
        gone: changes.gone,
        new: changes.new,
        kept: changes.kept,
        unknown: changes.unknown,
        figures: figures.list,
        refusals,
    }
}

/// The outcome, and a sentence for each kind of change.
fn verdict(
    outcome: DiffOutcome,
    changes: &findings::Changes,
    figures: &Figures,
    changed: bool,
    differ: Option<String>,
) -> String {
    let tell = |word: &str, list: &[FindingChange]| {
        let mut telling: Vec<&FindingChange> = list.iter().filter(|change| matters(change)).collect();
        // The largest gain or loss first; of the same, the order of the findings.
        telling.sort_by(|a, b| extent(b).total_cmp(&extent(a)));
        let (first, others) = telling.split_first()?;
        let more = match others.len() as u64 {
            0 => String::new(),
            more => format!(" (and {})", words::plural(more, "more finding")),
        };
        Some(format!("{word}: {}: {}{more}.", first.id, first.title))
    };
    // After a gain, what shows now was hidden by what is gone.
    let new = if outcome == DiffOutcome::Better { "Now limited by" } else { "New" };
    let mut parts: Vec<String> = figures.headline.iter().map(|text| format!("{text}.")).collect();
    if changes.gone.iter().all(|change| !matters(change)) {
        parts.extend(less(&changes.kept));
    }
    parts.extend(tell("Gone", &changes.gone));
    parts.extend(tell(new, &changes.new));
    parts.extend(tell("Cannot be judged in the second capture", &changes.unknown));
    if parts.is_empty() && changed {
        parts.push(
            "Nothing above a notice came or went, but other things are done than before: see the figures."
                .to_string(),
        );
    }
    if parts.is_empty() {
        let left = changes.kept.iter().filter(|change| matters(change)).count() as u64;
        parts.push(match left {
            0 => "No change beyond noise.".to_string(),
            1 => "No change beyond noise; 1 finding remains.".to_string(),
            more => format!("No change beyond noise; {more} findings remain."),
        });
    } else {
        parts.extend(figures.same_time.iter().map(|text| format!("{text}.")));
    }
    let differ =
        differ.map_or(String::new(), |names| format!("But these are different programs ({names}). "));
    format!("{}. {differ}{}", outcome.word(), parts.join(" "))
}

/// By how much of the time a finding changed; 0 where that is unknown.
fn extent(change: &FindingChange) -> f64 {
    (change.share_before.unwrap_or(0.0) - change.share_after.unwrap_or(0.0)).abs()
}

/// The finding that is still there and takes the most less of the time, else the first of which what it measured changed.
fn less(kept: &[FindingChange]) -> Option<String> {
    let gain = |change: &FindingChange| Some((change.share_before?, change.share_after?));
    let gains =
        kept.iter().filter(|change| matters(change)).filter_map(|change| Some((change, gain(change)?)));
    let gains = gains.filter(|(_, (before, after))| after < before && noise::shares_differ(*before, *after));
    let most = gains.max_by(|(a, _), (b, _)| extent(a).total_cmp(&extent(b)));
    let told = |word: &str, change: &FindingChange| format!("{word}: {}: {}.", change.id, change.change);
    let measured = || {
        kept.iter().find(|change| matters(change) && findings::telling(&change.measurements).next().is_some())
    };
    most.map(|(change, _)| told("Less", change))
        .or_else(|| measured().map(|change| told("Still there", change)))
}

/// The names of the programs, where none is in both: what differs between two programs need not be the work of a change.
fn different_programs(before: &Facts, after: &Facts) -> Option<String> {
    let names = |facts: &Facts| {
        let processes = facts.world.threads.processes().map(|(_, process)| process);
        let traced = processes.filter(|process| process.threads > 0 && process.parent.is_none());
        traced.filter_map(|process| process.name().map(str::to_string)).collect::<BTreeSet<String>>()
    };
    let (old, new) = (names(before), names(after));
    let differ = !old.is_empty() && !new.is_empty() && old.is_disjoint(&new);
    let list = |names: BTreeSet<String>| names.into_iter().take(3).collect::<Vec<_>>().join(", ");
    differ.then(|| format!("{}; {}", list(old), list(new)))
}

/// A notice of a small share may come and go between equal runs.
fn matters(change: &FindingChange) -> bool {
    let severity = change.before.max(change.after);
    let share = change.share_before.unwrap_or(0.0).max(change.share_after.unwrap_or(0.0));
    severity >= Some(Severity::Warning) || share > noise::SHARE_POINTS
}

#[cfg(test)]
mod tests;
