//! A finding in the words and labels that messages about it have in common.

use crate::told::ToldFinding;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use std::collections::BTreeMap;
use whyslow_model::time::civil_date;

/// The labels that tell a finding from others; the same over all its windows.
pub(crate) fn labels(finding: &ToldFinding, host: &str) -> BTreeMap<&'static str, String> {
    let mut labels = BTreeMap::from([
        ("alertname", finding.rule.clone()),
        ("source", "whyslow".to_string()),
        ("severity", finding.severity.clone()),
        ("host", host.to_string()),
        ("service", finding.service.clone()),
        ("finding", finding.finding.clone()),
    ]);
    // Alertmanager takes no label that is empty.
    labels.extend(
        finding.process.clone().filter(|process| !process.is_empty()).map(|process| ("process", process)),
    );
    labels
}

/// What a person reads of it.
pub(crate) fn annotations(finding: &ToldFinding) -> BTreeMap<&'static str, String> {
    let share = finding.share.map(|share| format!("{:.1} %", share * 100.0));
    let all = [
        ("summary", Some(finding.title.clone())),
        ("description", Some(finding.cause.clone())),
        ("fix", Some(finding.fix.join("\n"))),
        ("culprit", finding.culprit.clone()),
        ("line", finding.line.clone()),
        ("version", finding.version.clone()),
        ("share", share),
    ];
    let known =
        all.into_iter().filter_map(|(name, text)| Some((name, text.filter(|text| !text.is_empty())?)));
    known.collect()
}

/// An address of a page about it: `{host}`, `{service}`, `{rule}`, `{finding}` are replaced, percent-encoded.
pub(crate) fn link(template: &str, finding: &ToldFinding, host: &str) -> String {
    let mut text = template.to_string();
    for (name, value) in [
        ("{host}", host),
        ("{service}", &finding.service),
        ("{rule}", &finding.rule),
        ("{finding}", &finding.finding),
    ] {
        if text.contains(name) {
            text = text.replace(name, &encoded(value));
        }
    }
    text
}

/// What stays as it is: letters, digits and `-._~` (RFC 3986, 2.3).
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

fn encoded(text: &str) -> String {
    utf8_percent_encode(text, ENCODED).to_string()
}

/// A time, us since 1970, as RFC 3339 has it: `2026-11-27T17:49:03.000000Z`.
pub(crate) fn rfc3339(us: i64) -> String {
    let us = us.max(0) as u64;
    let seconds = us / 1_000_000;
    let (year, month, day) = civil_date(seconds / 86_400);
    let (hour, minute, second) = (seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:06}Z", us % 1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding() -> ToldFinding {
        ToldFinding {
            finding: "00ff".into(),
            rule: "fsync-per-write".into(),
            severity: "warning".into(),
            service: "a b/c".into(),
            title: "It syncs".into(),
            fix: vec!["one".into(), "two".into()],
            share: Some(0.125),
            ..ToldFinding::default()
        }
    }

    #[test]
    fn what_is_empty_is_no_label_and_no_annotation() {
        let labels = labels(&finding(), "h");
        assert_eq!(labels["alertname"], "fsync-per-write");
        assert!(labels.values().all(|value| !value.is_empty()) && !labels.contains_key("process"));
        let annotations = annotations(&finding());
        assert_eq!(annotations.keys().copied().collect::<Vec<_>>(), ["fix", "share", "summary"]);
        assert_eq!((annotations["fix"].as_str(), annotations["share"].as_str()), ("one\ntwo", "12.5 %"));
    }

    #[test]
    fn links_and_times_are_those_of_their_standards() {
        let link = link("https://w.example/s/{service}?r={rule}&f={finding}&h={host}", &finding(), "é");
        assert_eq!(link, "https://w.example/s/a%20b%2Fc?r=fsync-per-write&f=00ff&h=%C3%A9");
        assert_eq!(rfc3339(1_795_801_743_000_001), "2026-11-27T17:49:03.000001Z");
        assert_eq!(rfc3339(-5), "1970-01-01T00:00:00.000000Z");
    }
}
