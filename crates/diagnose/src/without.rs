//! What if: how long requests, or programs that serve nobody, would take if what a finding is about cost nothing. The same figure
//! as `whyslow path --without` gives.

use crate::asker::Asker;
use whyslow_chain::{Explainer, Lengths};
use whyslow_facts::Facts;
use whyslow_model::{Finding, Severity, ShareWhole, Subject, WhatIf};

/// Findings that are told so, the first ones: the rest matter less.
const MOST: usize = 3;
/// Gains below are within what two equal runs differ by.
const MIN_GAIN: f64 = 0.05;
/// A notice about so much of the time is worth the same.
const MUCH: f64 = 0.25;
/// A peer or file that takes more than this much beyond the finding's own part is more than the finding is about: mending it
/// does not make all of that go.
const BEYOND: f64 = 0.15;

/// Tells it of the first findings that are about a peer or a file.
pub(crate) fn tell(facts: &Facts, findings: &mut [Finding], asker: Asker<'_>) {
    let is_much = |finding: &Finding| asker.share(finding) >= MUCH && !whyslow_rules::is_general(finding.id);
    let is_told = |finding: &&mut Finding| {
        (finding.severity >= Severity::Warning || is_much(finding))
            && finding.share_whole == ShareWhole::Time
            && finding.follows_from.is_none()
            && finding.subjects().all(|subject| place(subject).is_some())
    };
    let mut found: Vec<&mut Finding> = findings.iter_mut().filter(is_told).take(MOST).collect();
    if found.is_empty() {
        return;
    }
    let lists: Vec<Vec<String>> = found.iter().map(|finding| places(finding)).collect();
    let borrowed: Vec<Vec<&str>> =
        lists.iter().map(|list| list.iter().map(String::as_str).collect()).collect();
    let patterns: Vec<&[&str]> = borrowed.iter().map(Vec::as_slice).collect();
    let all = Explainer::new(facts).all_without(&patterns);
    for ((finding, lengths), what) in found.iter_mut().zip(&all).zip(&lists) {
        let gain = lengths.gone();
        if gain >= MIN_GAIN && gain <= asker.share(finding) + BEYOND {
            finding.saving.without = Some(what_if(lengths, what.clone()));
        }
    }
}

fn what_if(lengths: &Lengths, what: Vec<String>) -> WhatIf {
    let ((p50_ns, p50_then_ns), (p99_ns, p99_then_ns)) = (lengths.percentile(0.5), lengths.percentile(0.99));
    WhatIf { what, count: lengths.now.len() as u64, p50_ns, p50_then_ns, p99_ns, p99_then_ns }
}

/// The peer or file that a finding is about. Of a pattern nobody knows what paths call it.
fn place(subject: &Subject) -> Option<&str> {
    let name = subject.peer.as_deref().or(subject.path.as_deref())?;
    (!name.is_empty() && !name.contains(['{', '…'])).then_some(name)
}

fn places(finding: &Finding) -> Vec<String> {
    let mut all: Vec<String> = finding.subjects().filter_map(place).map(str::to_string).collect();
    all.sort();
    all.dedup();
    all
}
