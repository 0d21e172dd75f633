//! Findings that are open, and how many opened and closed: what the figures and the messages about them are made of.

use crate::told::{OTHER, ToldFinding, ToldWindow};
use std::collections::BTreeMap;

/// The findings that are open behind the last window.
#[derive(Debug)]
pub(crate) struct OpenFindings {
    most: usize,
    open: BTreeMap<String, ToldFinding>,
    /// By severity.
    pub(crate) opened: BTreeMap<String, u64>,
    pub(crate) closed: BTreeMap<String, u64>,
    /// Sets of labels that were not told apart, window by window, and findings that a window left out.
    pub(crate) dropped: u64,
}

/// Labels, with how many are open and the largest share.
type Counts = Vec<(Vec<(&'static str, String)>, (u64, Option<f64>))>;

impl OpenFindings {
    pub(crate) fn new(most: usize) -> OpenFindings {
        // Their rate is known from the first one on, where it was seen that there was none.
        let none: BTreeMap<String, u64> =
            ["notice", "warning", "critical"].map(|severity| (severity.to_string(), 0)).into();
        OpenFindings { most, open: BTreeMap::new(), opened: none.clone(), closed: none, dropped: 0 }
    }

    pub(crate) fn take(&mut self, window: &ToldWindow) {
        for finding in &window.findings {
            let counts = match finding.state.as_str() {
                "open" => &mut self.opened,
                "closed" => &mut self.closed,
                _ => continue,
            };
            *counts.entry(finding.severity.clone()).or_default() += 1;
        }
        self.open = window.open.iter().map(|one| (one.finding.clone(), one.clone())).collect();
        self.dropped += window.findings_left_out;
        let sets = self.by_labels().len();
        self.dropped += sets.saturating_sub(self.most) as u64;
    }

    fn by_labels(&self) -> BTreeMap<[String; 3], (u64, Option<f64>)> {
        let mut counts: BTreeMap<[String; 3], (u64, Option<f64>)> = BTreeMap::new();
        for finding in self.open.values() {
            let key = [finding.rule.clone(), finding.severity.clone(), finding.service.clone()];
            let (count, share) = counts.entry(key).or_default();
            *count += 1;
            *share = [*share, finding.share].into_iter().flatten().reduce(f64::max);
        }
        counts
    }

    /// How many are open by rule, severity and service; beyond the bound by severity alone.
    pub(crate) fn counts(&self) -> Counts {
        let mut all: Vec<_> = self.by_labels().into_iter().collect();
        // Those of which there are most, and the gravest of the same number first.
        all.sort_by_key(|(key, (count, _))| (std::cmp::Reverse((rank(&key[1]), *count)), key.clone()));
        let rest = all.split_off(all.len().min(self.most));
        let mut others: BTreeMap<String, (u64, Option<f64>)> = BTreeMap::new();
        for ([_, severity, _], (count, share)) in rest {
            let (sum, most) = others.entry(severity).or_default();
            *sum += count;
            *most = [*most, share].into_iter().flatten().reduce(f64::max);
        }
        let others = others
            .into_iter()
            .map(|(severity, sums)| ([OTHER.to_string(), severity, OTHER.to_string()], sums));
        all.extend(others);
        let labelled = |([rule, severity, service], sums): ([String; 3], (u64, Option<f64>))| {
            (vec![("rule", rule), ("severity", severity), ("service", service)], sums)
        };
        all.into_iter().map(labelled).collect()
    }
}

/// Of two severities the graver one is more.
pub(crate) fn rank(severity: &str) -> u8 {
    match severity {
        "critical" => 3,
        "warning" => 2,
        "notice" => 1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(id: &str, rule: &str, severity: &str, share: Option<f64>) -> ToldFinding {
        ToldFinding {
            finding: id.into(),
            rule: rule.into(),
            severity: severity.into(),
            service: "s".into(),
            share,
            state: "open".into(),
            ..ToldFinding::default()
        }
    }

    #[test]
    fn open_ones_are_counted_and_what_is_no_longer_open_is_gone() {
        let mut open = OpenFindings::new(2);
        let all = vec![
            finding("1", "a", "warning", Some(0.2)),
            finding("2", "a", "warning", Some(0.4)),
            finding("3", "b", "critical", None),
            finding("4", "c", "notice", Some(0.1)),
        ];
        open.take(&ToldWindow { findings: all.clone(), open: all.clone(), ..ToldWindow::default() });
        let counts = open.counts();
        let words: Vec<(&str, u64, Option<f64>)> =
            counts.iter().map(|(labels, (count, share))| (labels[0].1.as_str(), *count, *share)).collect();
        assert_eq!(words, [("b", 1, None), ("a", 2, Some(0.4)), (OTHER, 1, Some(0.1))]);
        assert_eq!((open.opened["warning"], open.opened["notice"], open.dropped), (2, 1, 1));
        let closed = ToldFinding { state: "closed".into(), ..all[2].clone() };
        open.take(&ToldWindow { findings: vec![closed], ..ToldWindow::default() });
        assert_eq!((open.counts().len(), open.closed["critical"], open.closed["warning"]), (0, 1, 0));
    }
}
