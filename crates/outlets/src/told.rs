//! What a window tells, reduced to what outlets send: sums by labels, findings, figures of the host and the agent. It is made by the
//! process that tells the window, so that the agent itself never holds all rows.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use whyslow_model::visible;
use whyslow_parts::{AccountRow, AgentRow, CallRow, FindingRow, HostRow, RequestRow, StackRow};

/// Sets of labels of one kind that a window tells apart at most, the largest; the rest is told as one.
const MOST_TOLD: usize = 1_000;
/// Figures of the host at most.
const MOST_HOST: usize = 500;
/// Findings of a window at most, and of those that are open.
const MOST_FINDINGS: usize = 1_000;
/// Stacks at most, the largest.
const MOST_STACKS: usize = 1_000;
/// Characters of the value of a label.
const LONGEST_LABEL: usize = 200;
/// Characters of a title, and of other text of a finding.
const LONGEST_TEXT: usize = 2_000;
/// The value of labels of what is not told apart.
pub(crate) const OTHER: &str = "other";

/// A window's rows, as the tables of parts have them, and the findings that are open behind it.
pub struct ToldRows<'a> {
    /// The host.
    pub host: &'a str,
    /// The begin of the window, us since 1970.
    pub start: i64,
    /// How much of it was observed, seconds.
    pub seconds: f64,
    /// Where the time went.
    pub accounts: &'a [AccountRow],
    /// Calls.
    pub calls: &'a [CallRow],
    /// Requests.
    pub requests: &'a [RequestRow],
    /// Where threads ran and waited.
    pub stacks: &'a [StackRow],
    /// The host's resources.
    pub hosts: &'a [HostRow],
    /// Findings of this window: those that opened, went on and closed.
    pub findings: &'a [FindingRow],
    /// All findings that are open behind it.
    pub open: &'a [FindingRow],
    /// What the agent says of itself.
    pub agent: &'a AgentRow,
}

/// Values of labels, in the order of the labels of their kind.
pub(crate) type Key = Vec<String>;

/// Calls of one set of labels.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct CallSums {
    pub(crate) calls: u64,
    /// Unknown where no row knows it.
    pub(crate) errors: Option<u64>,
    pub(crate) ns: Option<u64>,
}

/// Requests of one set of labels.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct RequestSums {
    pub(crate) requests: u64,
    pub(crate) failed: Option<u64>,
    pub(crate) ns: Option<u64>,
    /// How many took from 2^i to below 2^(i+1) ns, by i from 0; empty where no duration is known.
    pub(crate) buckets: Vec<u64>,
}

/// A finding as outlets send it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct ToldFinding {
    pub(crate) finding: String,
    pub(crate) rule: String,
    pub(crate) severity: String,
    pub(crate) confidence: Option<f64>,
    pub(crate) service: String,
    pub(crate) version: Option<String>,
    pub(crate) process: Option<String>,
    pub(crate) culprit: Option<String>,
    pub(crate) line: Option<String>,
    pub(crate) title: String,
    pub(crate) share: Option<f64>,
    /// `open`, `continues` or `closed`.
    pub(crate) state: String,
    /// The begin of its first and last window, us since 1970.
    pub(crate) opened: i64,
    pub(crate) last_seen: i64,
    /// Why, and what to change; empty where the evidence does not say.
    pub(crate) cause: String,
    pub(crate) fix: Vec<String>,
    /// What was measured, as JSON.
    pub(crate) evidence: String,
}

/// A figure of the host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct HostFigure {
    pub(crate) resource: String,
    pub(crate) metric: String,
    pub(crate) value: f64,
    pub(crate) unit: String,
}

/// A stack, the outermost frame first, with `;` between.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ToldStack {
    pub(crate) service: String,
    pub(crate) process: String,
    /// `cpu` or `wait`.
    pub(crate) kind: String,
    pub(crate) stack: String,
    pub(crate) samples: u64,
    pub(crate) ns: Option<u64>,
}

/// Sums of one kind, the largest first, and how many sets of labels are in those of `other`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ToldSums<V> {
    pub(crate) rows: Vec<(Key, V)>,
    pub(crate) joined: u64,
}

impl<V> Default for ToldSums<V> {
    fn default() -> ToldSums<V> {
        ToldSums { rows: Vec::new(), joined: 0 }
    }
}

/// A window, reduced.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct ToldWindow {
    pub(crate) host: String,
    pub(crate) start: i64,
    pub(crate) seconds: f64,
    pub(crate) version: String,
    pub(crate) kernel: String,
    pub(crate) mode: String,
    pub(crate) events: Option<u64>,
    /// ns by service, process, role, state, kind of object.
    pub(crate) accounts: ToldSums<u64>,
    /// By service, process, call.
    pub(crate) calls: ToldSums<CallSums>,
    /// By service, side, protocol, endpoint.
    pub(crate) requests: ToldSums<RequestSums>,
    pub(crate) hosts: Vec<HostFigure>,
    pub(crate) findings: Vec<ToldFinding>,
    pub(crate) open: Vec<ToldFinding>,
    /// Findings that were too many to be told.
    pub(crate) findings_left_out: u64,
    /// Only where an outlet wants them.
    pub(crate) stacks: Vec<ToldStack>,
}

/// What is summed by labels.
pub(crate) trait Sums: Clone + Default {
    fn add(&mut self, other: &Self);
    /// How much of it there is: the largest are told apart.
    fn weight(&self) -> u64;
}

impl Sums for u64 {
    fn add(&mut self, other: &u64) {
        *self = self.saturating_add(*other);
    }

    fn weight(&self) -> u64 {
        *self
    }
}

/// A sum of which one part may be unknown: what is known of it.
fn add_known(to: &mut Option<u64>, from: Option<u64>) {
    if let Some(from) = from {
        *to = Some(to.unwrap_or(0).saturating_add(from));
    }
}

impl Sums for CallSums {
    fn add(&mut self, other: &CallSums) {
        self.calls = self.calls.saturating_add(other.calls);
        add_known(&mut self.errors, other.errors);
        add_known(&mut self.ns, other.ns);
    }

    fn weight(&self) -> u64 {
        self.ns.unwrap_or(0).max(self.calls)
    }
}

impl Sums for RequestSums {
    fn add(&mut self, other: &RequestSums) {
        self.requests = self.requests.saturating_add(other.requests);
        add_known(&mut self.failed, other.failed);
        add_known(&mut self.ns, other.ns);
        if self.buckets.len() < other.buckets.len() {
            self.buckets.resize(other.buckets.len(), 0);
        }
        self.buckets.iter_mut().zip(&other.buckets).for_each(|(to, from)| *to = to.saturating_add(*from));
    }

    fn weight(&self) -> u64 {
        self.ns.unwrap_or(0).max(self.requests)
    }
}

impl ToldWindow {
    /// Of a window's rows.
    pub(crate) fn of(rows: &ToldRows<'_>, with_stacks: bool) -> ToldWindow {
        let accounts = rows.accounts.iter().map(|row| {
            let kind = kind_of_object(&row.state, row.object.as_deref());
            let key = [&row.service, &row.process, &row.role, &row.state].map(|text| label(text));
            (key.into_iter().chain([kind.to_string()]).collect(), row.ns)
        });
        let calls = rows.calls.iter().map(|row| {
            let key = [&row.service, &row.process, &row.call].map(|text| label(text));
            (key.to_vec(), CallSums { calls: row.calls, errors: row.errors, ns: row.ns })
        });
        let requests = rows.requests.iter().map(|row| {
            let key = [&row.service, &row.side, &row.protocol, &row.endpoint].map(|text| label(text));
            let sums = RequestSums {
                requests: row.requests,
                failed: row.failed,
                ns: row.ns,
                buckets: row.buckets.clone().unwrap_or_default(),
            };
            (key.to_vec(), sums)
        });
        let left_out = |all: usize| all.saturating_sub(MOST_FINDINGS) as u64;
        let findings =
            |rows: &[FindingRow]| rows.iter().take(MOST_FINDINGS).map(finding).collect::<Vec<ToldFinding>>();
        ToldWindow {
            host: label(rows.host),
            start: rows.start,
            seconds: rows.seconds,
            version: label(&rows.agent.version),
            kernel: label(&rows.agent.kernel),
            mode: label(&rows.agent.mode),
            events: rows.agent.events,
            accounts: summed(accounts, &ACCOUNT_KEPT),
            calls: summed(calls, &CALL_KEPT),
            requests: summed(requests, &REQUEST_KEPT),
            hosts: rows.hosts.iter().filter(|row| row.value.is_finite()).take(MOST_HOST).map(host).collect(),
            findings: findings(rows.findings),
            open: findings(rows.open),
            findings_left_out: left_out(rows.findings.len()) + left_out(rows.open.len()),
            stacks: if with_stacks { stacks(rows.stacks) } else { Vec::new() },
        }
    }

    /// The end of the window as observed, us since 1970.
    pub(crate) fn end(&self) -> i64 {
        self.start.saturating_add((self.seconds.clamp(0.0, 86_400.0) * 1e6) as i64)
    }
}

/// Labels that what is not told apart keeps, by their place: so that time by state and requests by side stay whole.
pub(crate) const ACCOUNT_KEPT: [usize; 1] = [3];
pub(crate) const CALL_KEPT: [usize; 0] = [];
pub(crate) const REQUEST_KEPT: [usize; 1] = [1];

/// The labels of what is not told apart.
pub(crate) fn other(key: &[String], kept: &[usize]) -> Key {
    let value = |(at, text): (usize, &String)| {
        if kept.contains(&at) { text.clone() } else { OTHER.to_string() }
    };
    key.iter().enumerate().map(value).collect()
}

/// Sums by labels, of which the largest are told apart.
fn summed<V: Sums>(rows: impl Iterator<Item = (Key, V)>, kept: &[usize]) -> ToldSums<V> {
    let mut sums: BTreeMap<Key, V> = BTreeMap::new();
    for (key, value) in rows {
        sums.entry(key).or_default().add(&value);
    }
    let mut rows: Vec<(Key, V)> = sums.into_iter().collect();
    rows.sort_by(|a, b| b.1.weight().cmp(&a.1.weight()).then_with(|| a.0.cmp(&b.0)));
    let rest = rows.split_off(rows.len().min(MOST_TOLD));
    let mut others: BTreeMap<Key, V> = BTreeMap::new();
    for (key, value) in &rest {
        others.entry(other(key, kept)).or_default().add(value);
    }
    rows.extend(others);
    ToldSums { rows, joined: rest.len() as u64 }
}

/// The value of a label: on one line, and not longer than people read.
pub(crate) fn label(text: &str) -> String {
    cut(&visible::line(text), LONGEST_LABEL)
}

fn cut(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_string(),
    }
}

/// What kind of thing time is spent on: of waits the state says it, of work the name of the thing.
fn kind_of_object(state: &str, object: Option<&str>) -> &'static str {
    match (state, object) {
        ("file" | "page-fault", _) => "file",
        ("peer", _) => "peer",
        ("client" | "accept", _) => "client",
        ("pipe", _) => "pipe",
        ("lock" | "kernel-wait", _) => "lock",
        ("timer", _) => "timer",
        ("child", _) => "child",
        ("poll" | "event", _) => "event",
        (_, None | Some("")) => "none",
        (_, Some(name)) if name.starts_with('/') => "file",
        (_, Some(name)) if is_address(name) => "peer",
        (_, Some(_)) => OTHER,
    }
}

/// `10.0.0.2:6379`, `[::1]:80`, also with a name in parentheses behind it.
fn is_address(name: &str) -> bool {
    name.split_ascii_whitespace().next().is_some_and(|word| word.parse::<SocketAddr>().is_ok())
}

fn finding(row: &FindingRow) -> ToldFinding {
    let text = |text: &str| cut(&visible::block(text), LONGEST_TEXT);
    let said: serde_json::Value = serde_json::from_str(&row.evidence).unwrap_or_default();
    let strings = |name: &str| {
        let list = said[name].as_array().into_iter().flatten().filter_map(serde_json::Value::as_str);
        list.map(text).collect::<Vec<String>>()
    };
    let name = |text: &Option<String>| text.as_deref().map(label);
    ToldFinding {
        finding: row.finding.clone(),
        rule: row.rule.clone(),
        severity: row.severity.clone(),
        confidence: row.confidence,
        service: label(&row.service),
        version: name(&row.version),
        process: name(&row.process),
        culprit: name(&row.culprit),
        line: name(&row.line),
        title: text(&row.title),
        share: row.share.filter(|share| share.is_finite()),
        state: row.state.clone(),
        opened: row.opened.0,
        last_seen: row.last_seen.0,
        cause: said["cause"].as_str().map(text).unwrap_or_default(),
        fix: strings("fix"),
        // It is JSON: cut it would be none.
        evidence: if row.evidence.len() <= 8 * LONGEST_TEXT { row.evidence.clone() } else { String::new() },
    }
}

fn host(row: &HostRow) -> HostFigure {
    HostFigure {
        resource: label(&row.resource),
        metric: row.metric.clone(),
        value: row.value,
        unit: row.unit.clone(),
    }
}

fn stacks(rows: &[StackRow]) -> Vec<ToldStack> {
    let mut rows: Vec<&StackRow> = rows.iter().collect();
    rows.sort_by_key(|row| std::cmp::Reverse((row.ns, row.samples)));
    let one = |row: &&StackRow| ToldStack {
        service: label(&row.service),
        process: label(&row.process),
        kind: row.kind.clone(),
        stack: row.stack.clone(),
        samples: row.samples,
        ns: row.ns,
    };
    rows.iter().take(MOST_STACKS).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account(service: &str, state: &str, object: Option<&str>, ns: u64) -> AccountRow {
        AccountRow {
            service: service.into(),
            process: "p".into(),
            role: "worker".into(),
            state: state.into(),
            object: object.map(str::to_string),
            ns,
            ..AccountRow::default()
        }
    }

    fn window(accounts: &[AccountRow]) -> ToldWindow {
        let rows = ToldRows {
            host: "h",
            start: 0,
            seconds: 60.0,
            accounts,
            calls: &[],
            requests: &[],
            stacks: &[],
            hosts: &[],
            findings: &[],
            open: &[],
            agent: &AgentRow::default(),
        };
        ToldWindow::of(&rows, false)
    }

    #[test]
    fn rows_of_the_same_labels_are_one_sum_and_files_are_told_from_peers() {
        let told = window(&[
            account("a", "kernel", Some("/x"), 1),
            account("a", "kernel", Some("/y"), 2),
            account("a", "kernel", Some("10.0.0.2:6379 (redis)"), 4),
            account("a", "user", None, 8),
            account("a", "lock", Some("0x55"), 16),
        ]);
        let sums: Vec<(&str, &str, u64)> =
            told.accounts.rows.iter().map(|(key, ns)| (key[3].as_str(), key[4].as_str(), *ns)).collect();
        assert_eq!(
            sums,
            [("lock", "lock", 16), ("user", "none", 8), ("kernel", "peer", 4), ("kernel", "file", 3),]
        );
        assert_eq!(told.end(), 60_000_000);
    }

    #[test]
    fn the_largest_are_told_apart_and_no_time_is_lost() {
        let rows: Vec<AccountRow> = (0..3_000_u64)
            .map(|number| {
                let state = if number % 2 == 0 { "user" } else { "file" };
                account(&format!("s{number}"), state, None, number)
            })
            .collect();
        let told = window(&rows).accounts;
        assert_eq!((told.rows.len(), told.joined), (MOST_TOLD + 2, 2_000));
        assert_eq!(told.rows.iter().map(|(_, ns)| ns).sum::<u64>(), (0..3_000_u64).sum::<u64>());
        let others: Vec<&Key> = told.rows.iter().map(|(key, _)| key).filter(|key| key[0] == OTHER).collect();
        assert_eq!((others[0][3].as_str(), others[1][3].as_str()), ("file", "user"));
        assert_eq!(told.rows[0].0[0], "s2999");
    }

    #[test]
    fn what_is_unknown_stays_unknown_in_sums() {
        let mut sums = CallSums::default();
        sums.add(&CallSums { calls: 2, errors: None, ns: None });
        assert_eq!(sums, CallSums { calls: 2, errors: None, ns: None });
        sums.add(&CallSums { calls: 1, errors: Some(0), ns: Some(7) });
        assert_eq!(sums, CallSums { calls: 3, errors: Some(0), ns: Some(7) });
        let mut requests = RequestSums { buckets: vec![1], ..RequestSums::default() };
        requests.add(&RequestSums { buckets: vec![1, 0, 5], requests: 6, ..RequestSums::default() });
        assert_eq!((requests.buckets, requests.requests, requests.ns), (vec![2, 0, 5], 6, None));
    }

    #[test]
    fn a_finding_says_its_cause_and_its_fix() {
        let evidence = r#"{"cause":"it\u001b[31m waits","fix":["do less","or more"],"lines":[]}"#;
        let row = FindingRow { evidence: evidence.into(), title: "t".repeat(3_000), ..FindingRow::default() };
        let told = finding(&row);
        assert_eq!((told.cause.as_str(), told.fix.len()), ("it\\x1b[31m waits", 2));
        assert_eq!(told.title.chars().count(), LONGEST_TEXT + 1);
        let none = finding(&FindingRow { evidence: "no JSON".into(), ..FindingRow::default() });
        assert_eq!((none.cause.as_str(), none.fix.len()), ("", 0));
    }
}
