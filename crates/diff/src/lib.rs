//! The comparison of two diagnoses: did the change work?
//!
//! Findings are gone, new, kept, or unknown where the second capture cannot judge them. Figures stand side by
//! side with their ratio, but a rate or a "times faster" is refused where the length of a window is unknown, and
//! what two equal runs may differ by ([`noise`]) counts as no change.

mod change;
mod figures;
mod findings;
pub mod noise;
mod percentiles;
mod requests;
mod windows;

pub use percentiles::two_runs;

use figures::Figures;
use whyslow_facts::Facts;
pub(crate) use whyslow_model::figures as words;
use whyslow_model::{Diagnosis, Diff, FindingChange, Severity};
use windows::Windows;

/// One of the two: the facts and what was found in them.
#[derive(Clone, Copy)]
pub struct Side<'a> {
    /// The facts.
    pub facts: &'a Facts,
    /// The diagnosis of these facts.
    pub diagnosis: &'a Diagnosis,
}

/// Compares two diagnoses.
pub fn diff(before: Side<'_>, after: Side<'_>) -> Diff {
    let windows = Windows::of(before.facts, after.facts);
    let changes = findings::compare(before.diagnosis, after.diagnosis, before.facts, after.facts);
    let figures = figures::compare(before.facts, after.facts, &windows);
    let no_calls = [before, after].iter().all(|side| side.facts.total_calls() == 0);
    // Of a log or a table of percentiles nothing else is to be had.
    let refusal = windows.refusal().filter(|_| !(no_calls && figures.of_requests));
    let mut refusals: Vec<String> = refusal.into_iter().collect();
    refusals.extend(figures.caveats.iter().cloned());
    Diff {
        schema: Diff::SCHEMA,
        verdict: verdict(&changes, &figures),
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

/// One sentence a kind of change; "no change beyond noise" where there is none.
fn verdict(changes: &findings::Changes, figures: &Figures) -> String {
    let mut parts = Vec::new();
    let mut tell = |word: &str, list: &[FindingChange]| {
        let mut telling = list.iter().filter(|change| matters(change));
        if let Some(first) = telling.next() {
            let more = telling.count() as u64;
            let more = if more > 0 {
                format!(" (and {})", words::plural(more, "more finding"))
            } else {
                String::new()
            };
            parts.push(format!("{word}: {}: {}{more}.", first.id, first.title));
        }
    };
    tell("Gone", &changes.gone);
    tell("New", &changes.new);
    tell("Cannot be judged in the second capture", &changes.unknown);
    parts.extend(figures.headline.iter().map(|text| format!("{text}.")));
    let changed = figures.list.iter().any(|figure| figure.beyond_noise == Some(true));
    if parts.is_empty() && changed {
        parts.push(
            "Nothing above a notice came or went, but other things are done than before: see the figures."
                .to_string(),
        );
    }
    if parts.is_empty() {
        return match changes.kept.iter().filter(|change| matters(change)).count() as u64 {
            0 => "No change beyond noise.".to_string(),
            1 => "No change beyond noise; 1 finding remains.".to_string(),
            more => format!("No change beyond noise; {more} findings remain."),
        };
    }
    parts.extend(figures.same_time.iter().map(|text| format!("{text}.")));
    parts.join(" ")
}

/// A notice of a small share may come and go between equal runs.
fn matters(change: &FindingChange) -> bool {
    let severity = change.before.max(change.after);
    let share = change.share_before.unwrap_or(0.0).max(change.share_after.unwrap_or(0.0));
    severity >= Some(Severity::Warning) || share > noise::SHARE_POINTS
}

#[cfg(test)]
mod tests;
