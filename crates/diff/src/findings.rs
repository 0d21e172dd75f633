//! Findings of two diagnoses, matched.

use super::noise;
use crate::words;
use whyslow_facts::Facts;
use whyslow_model::{Diagnosis, Finding, FindingChange, MeasurementChange, Severity, ShareOf, Subject, Unit};

/// Findings by what became of them. Those about the captures themselves are left out.
pub(super) struct Changes {
    pub(super) gone: Vec<FindingChange>,
    pub(super) new: Vec<FindingChange>,
    pub(super) kept: Vec<FindingChange>,
    pub(super) unknown: Vec<FindingChange>,
}

pub(super) fn compare(
    before: &Diagnosis,
    after: &Diagnosis,
    before_facts: &Facts,
    after_facts: &Facts,
) -> Changes {
    let mut changes = Changes { gone: Vec::new(), new: Vec::new(), kept: Vec::new(), unknown: Vec::new() };
    let mut unmatched: Vec<&Finding> = of_program(after).collect();
    for old in of_program(before) {
        if let Some(at) = best_match(old, &unmatched) {
            changes.kept.push(kept(old, unmatched.remove(at)));
            continue;
        }
        let unjudged = after.not_judged.iter().find(|rule| rule.id == old.id);
        match unjudged {
            Some(rule) => changes.unknown.push(change(
                Some(old),
                None,
                format!("the second capture lacks {}: {}", rule.missing, rule.supply),
            )),
            None => changes.gone.push(change(Some(old), None, gone(old, before_facts, after_facts))),
        }
    }
    for new in unmatched {
        let unjudged = before.not_judged.iter().find(|rule| rule.id == new.id);
        let text = match unjudged {
            Some(rule) => format!("could not be judged before: the first capture lacks {}", rule.missing),
            None => "was not there".to_string(),
        };
        changes.new.push(change(None, Some(new), text));
    }
    changes
}

fn of_program(diagnosis: &Diagnosis) -> impl Iterator<Item = &Finding> {
    diagnosis.findings.iter().filter(|finding| finding.severity > Severity::Capture)
}

/// The finding of the same rule about the same thing. Process and thread numbers and addresses differ from run to
/// run; a finding about nothing else matches any of its rule.
fn best_match(old: &Finding, candidates: &[&Finding]) -> Option<usize> {
    let same_rule = || candidates.iter().enumerate().filter(|(_, new)| new.id == old.id);
    let exact = same_rule().find(|(_, new)| share_a_place(old, new));
    let is_lasting = |finding: &Finding| thing(&finding.subject) != (None, None, None);
    exact.or_else(|| same_rule().find(|(_, new)| !is_lasting(old) || !is_lasting(new))).map(|(at, _)| at)
}

/// What a finding is about that has the same name in another run.
fn thing(subject: &Subject) -> (Option<&str>, Option<&str>, Option<&str>) {
    (subject.path.as_deref(), subject.peer.as_deref(), subject.endpoint.as_deref())
}

/// True where both are about the same thing. Of one cause in several places another one may be the first now.
fn share_a_place(old: &Finding, new: &Finding) -> bool {
    old.subjects().any(|was| new.subjects().any(|is| thing(is) == thing(was)))
}

/// True where the shares of both are parts of one kind of whole: a part of the time of all requests and one of the time of a thread are
/// no more and no less than each other. How many threads or requests a whole is of may differ from run to run.
fn are_of_one_whole(old: &Finding, new: &Finding) -> bool {
    let kind = |of: &str| {
        let words = of.split_whitespace().filter(|word| !word.contains(|c: char| c.is_ascii_digit()));
        words.map(|word| word.trim_end_matches('s').to_string()).collect::<Vec<_>>()
    };
    let are_alike = match (&old.share_of, &new.share_of) {
        (ShareOf::Thread { time: was, .. }, ShareOf::Thread { time: is, .. }) => was == is,
        (ShareOf::Named(was), ShareOf::Named(is)) => kind(was) == kind(is),
        (was, is) => was == is,
    };
    old.share_whole == new.share_whole && are_alike
}

fn change(before: Option<&Finding>, after: Option<&Finding>, text: String) -> FindingChange {
    /// Measurements of the side where the finding is.
    fn figures(finding: Option<&Finding>) -> &[whyslow_model::Measurement] {
        finding.map_or(&[], |finding| &finding.measurements)
    }
    let either = before.or(after);
    FindingChange {
        id: either.map_or("", |finding| finding.id),
        title: either.map_or(String::new(), |finding| finding.title.clone()),
        before: before.map(|finding| finding.severity),
        after: after.map(|finding| finding.severity),
        share_before: before.and_then(|finding| finding.share),
        share_after: after.and_then(|finding| finding.share),
        measurements: MeasurementChange::pair(figures(before), figures(after)),
        change: text,
    }
}

fn kept(old: &Finding, new: &Finding) -> FindingChange {
    let mut parts = Vec::new();
    let is_one_thing = share_a_place(old, new);
    let is_one_whole = is_one_thing && are_of_one_whole(old, new);
    match (old.share, new.share) {
        (Some(a), Some(b)) if !is_one_whole => {
            let (before, now) = (words::percent(a), words::percent(b));
            let whose = if is_one_thing { "wholes" } else { "things" };
            let (was, is) = (&old.share_of, &new.share_of);
            parts.push(format!(
                "{before} of {was} before, {now} of {is} now, which are shares of two {whose}"
            ));
        }
        (Some(a), Some(b)) if noise::shares_differ(a, b) => {
            parts.push(format!("{} -> {} of {}", words::percent(a), words::percent(b), new.share_of));
        }
        _ if old.severity != new.severity => {
            parts.push(format!("{} -> {}", old.severity.word(), new.severity.word()));
        }
        _ => {}
    }
    let mut kept = change(Some(old), Some(new), String::new());
    if !is_one_whole {
        kept.share_before = None;
    }
    if !is_one_thing {
        kept.measurements = MeasurementChange::pair(&[], &new.measurements);
    }
    parts.extend(telling(&kept.measurements).filter_map(MeasurementChange::words));
    if parts.is_empty() {
        let known = old.share.is_some() && new.share.is_some();
        parts.push(if known { "no change beyond noise" } else { "still there" }.to_string());
    }
    kept.change = parts.join("; ");
    kept
}

/// The figures that tell how much of its cause is left: rates, and sizes that the rule judges by.
pub(super) fn telling(all: &[MeasurementChange]) -> impl Iterator<Item = &MeasurementChange> {
    /// Told in words; JSON has all.
    const MOST: usize = 2;
    let is_rate = |unit| matches!(unit, Unit::PerSecond | Unit::BytesPerSecond | Unit::SecondsPerSecond);
    // Shares stand before them; counts and times may be sums over the window.
    let tells = move |one: &&MeasurementChange| {
        is_rate(one.unit) || one.threshold.is_some() && one.unit == Unit::Bytes
    };
    let differs = |one: &&MeasurementChange| match (one.before, one.after) {
        (Some(before), Some(after)) => noise::times_differ(before, after),
        _ => false,
    };
    let judged = all.iter().filter(|one| one.threshold.is_some());
    let others = all.iter().filter(|one| one.threshold.is_none());
    judged.chain(others).filter(tells).filter(differs).take(MOST)
}

/// `200,135 stat calls -> 0 (2,114 per second -> 0)`.
fn gone(old: &Finding, before: &Facts, after: &Facts) -> String {
    let Some(syscall) = old.subject.syscall.as_deref() else { return "was not found again".to_string() };
    let names: Vec<&str> = syscall.split(", ").collect();
    let (was, is) = (before.calls_of(&names), after.calls_of(&names));
    if was == 0 {
        return "was not found again".to_string();
    }
    let counts = format!("{} {} calls -> {}", words::count(was), names.join(" and "), words::count(is));
    let rate = |count: u64, facts: &Facts| {
        let ns = facts.window.length().get().filter(|ns| *ns > 0)?;
        Some(words::quantity(count as f64 * 1e9 / ns as f64))
    };
    match (rate(was, before), rate(is, after)) {
        (Some(was), Some(is)) => format!("{counts} ({was} per second -> {is})"),
        _ => counts,
    }
}
