//! Figures in titles are measurements: a title prints nothing that JSON does not have as a number.

use libtest_mimic::Failed;
use std::net::Ipv4Addr;
use whyslow_model::{Finding, Measurement, Subject};

/// Words before a number that names something: it counts nothing.
const NAMES: &[&str] = &[
    "thread",
    "threads",
    "process",
    "pid",
    "tid",
    "fd",
    "CPU",
    "node",
    "line",
    "port",
    "HTTP",
    "version",
    "descriptor",
    "lock",
    "futex",
    "signal",
    "level",
    "job",
    "client",
    "worker",
    "inode",
    "queue",
    "cpu",
    "status",
    "unit",
    "session",
    "sector",
    "timeout",
];

/// Each figure of the finding's title is one of its measurements, or its share.
pub(super) fn are_measured(finding: &Finding) -> Result<(), Failed> {
    let mut rest = finding.title.clone();
    for name in names(&finding.subject) {
        rest = without_name(&rest, &name);
    }
    let share = finding.share.map(|share| Measurement::share("share", share));
    let mut spellings: Vec<String> =
        finding.measurements.iter().chain(&share).flat_map(Measurement::spellings).collect();
    // `1,234 MB` before `234 MB`.
    spellings.sort_by_key(|spelling| std::cmp::Reverse(spelling.len()));
    for spelling in spellings {
        rest = without(&rest, &spelling);
    }
    match figure(&rest, &finding.subject) {
        None => Ok(()),
        Some(figure) => Err(format!(
            "the figure {figure} is no measurement of the finding (`.measured(Measurement::…)` in {}): {}",
            finding.id, finding.title
        )
        .into()),
    }
}

/// What the subject names, longest first.
fn names(subject: &Subject) -> Vec<String> {
    let texts = [
        &subject.comm,
        &subject.syscall,
        &subject.path,
        &subject.peer,
        &subject.lock,
        &subject.function,
        &subject.endpoint,
        &subject.device,
        &subject.host,
    ];
    let mut names: Vec<String> =
        texts.into_iter().flatten().filter(|name| !name.is_empty()).cloned().collect();
    names.sort_by_key(|name| std::cmp::Reverse(name.len()));
    names
}

/// The text without a name, where one begins: `read` is no part of `thread`.
fn without_name(text: &str, name: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(name) {
        let (before, after) = (&rest[..at], &rest[at + name.len()..]);
        let within = out.chars().chain(before.chars()).next_back().is_some_and(char::is_alphanumeric);
        out.push_str(before);
        out.push_str(if within { name } else { "_" });
        rest = after;
    }
    out + rest
}

/// The text without a figure, where that stands alone: `12` is no part of `3,12` or `v12`.
fn without(text: &str, figure: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(figure) {
        let (before, after) = (&rest[..at], &rest[at + figure.len()..]);
        let last = out.chars().chain(before.chars()).next_back();
        let more = after.chars().next().is_some_and(|next| next.is_ascii_digit())
            || after.starts_with([',', '.']) && after[1..].starts_with(|next: char| next.is_ascii_digit());
        let alone = !more
            && !last.is_some_and(|last| last.is_alphanumeric() || matches!(last, ',' | '.' | '_' | '/'));
        out.push_str(before);
        out.push_str(if alone { "_" } else { figure });
        rest = after;
    }
    out + rest
}

/// The first number that is no part of a name, and no process or thread of the subject.
fn figure(text: &str, subject: &Subject) -> Option<String> {
    let numbers: Vec<String> =
        [subject.pid, subject.tid].into_iter().flatten().map(|id| id.to_string()).collect();
    let mut before = "";
    for word in text.split_whitespace() {
        // `redis (612)`: a process.
        let is_pid = word.starts_with('(') && word.trim_end_matches([',', ':', ';']).ends_with(')');
        // `*:8715`, `[::]:80`: where a socket listens.
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '/' && c != '-');
        let is_address = word.starts_with("*:") || word.starts_with('[') || bare.parse::<Ipv4Addr>().is_ok();
        let is_number = bare.starts_with(|c: char| c.is_ascii_digit())
            && bare.trim_end_matches('x').chars().all(|c| c.is_ascii_digit() || matches!(c, ',' | '.'));
        let is_subject = numbers.iter().any(|number| number == bare);
        if is_number
            && !is_pid
            && !is_address
            && !is_subject
            && !NAMES.contains(&before.trim_start_matches('('))
        {
            return Some(word.to_string());
        }
        before = word;
    }
    None
}
