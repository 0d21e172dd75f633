//! # serial-independent-calls
//!
//! ## What it is
//! To answer one request, a program asks several other servers (or one for several different things), each only when it has
//! the answer of the one before, though none of the questions needs that answer.
//!
//! ## Why it is slow
//! The request takes the sum of all answers; asked at once it would take the slowest.
//!
//! ## Example
//! ```text
//! GET /user/17 is served:
//!   GET /profile/17 at 10.0.0.1:8080     80 ms
//!   GET /orders/17  at 10.0.0.2:8080     70 ms     behind it
//!   GET /offers     at 10.0.0.3:8080     60 ms     behind that
//! ```
//!
//! ## What to do instead
//! Ask at once and wait for all: Promise.all, asyncio.gather, CompletableFuture.allOf, errgroup, a thread each; a pipeline for
//! several commands to one server.
//!
//! ## When it is wrong
//! That one answer decides whether the next question is asked at all (a permission, a cache) does not show. Only questions
//! that read (GET, and commands that read) count, and only where every value in them stands in the request that is served,
//! so that none can come from an answer. Bodies and queries are not seen: that is why it is never more than a warning, and a notice where
//! fewer than two of them hold a value of the request.

use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::guards::{self, Share};
use crate::words;
use hashbrown::HashMap;
use whyslow_facts::Facts;
use whyslow_facts::folds::requests::{EndpointFacts, ParentBy, RequestRecord, Side};
use whyslow_model::{ChainLink, Measurement, Nanos, Severity, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "serial-independent-calls",
    group: "network",
    summary: "one request asks several servers one after the other, though no question needs the answer before it",
    source: include_str!("serial_independent_calls.rs"),
    needs: &[Need::Durations, Need::Clock, Need::Descriptors],
    check,
};

/// What asking at once must save of a request, at least: for less nobody rewrites a program.
const LEAST: Nanos = Nanos::from_millis(20);
/// The part of the request's time that it must save.
const PART: f64 = 0.20;
/// Questions with a value of the request that is served, from which on it is evident that they do not hang on each other.
const FREE: u64 = 2;
/// Requests that must show it: one may be chance.
const OFTEN: usize = 3;

/// What the requests of one endpoint show.
struct Serial<'f> {
    row: &'f EndpointFacts,
    requests: usize,
    /// What asking at once would save of them, and what they took, ns.
    saved: u64,
    took: u64,
    /// The slowest, with what it asked.
    worst: (&'f RequestRecord, Vec<&'f RequestRecord>),
}

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let mut asked: HashMap<u64, Vec<&RequestRecord>> = HashMap::new();
    for record in facts.requests.records().filter(|record| record.side == Side::Client) {
        if let Some((number, ParentBy::Thread)) = record.parent {
            asked.entry(number).or_default().push(record);
        }
    }
    let rows = facts.requests.endpoints().iter().filter(|row| row.side == Side::Server);
    let mut found: Vec<Serial<'_>> = rows.filter_map(|row| serial(facts, row, &asked)).collect();
    found.sort_by_key(|serial| std::cmp::Reverse(serial.saved));
    for serial in found.iter() {
        report(facts, out, serial);
    }
}

/// What the kept requests of an endpoint show together.
#[gated]
fn serial<'f>(
    facts: &'f Facts,
    row: &'f EndpointFacts,
    asked: &HashMap<u64, Vec<&'f RequestRecord>>,
) -> Option<Serial<'f>> {
    let mut all: Option<Serial<'f>> = None;
    for parent in row.kept() {
        let Some(children) = asked.get(&parent.number) else { continue };
        let Some((run, saved)) = longest_run(facts, parent, children) else { continue };
        let took = parent.dur.or_zero();
        if saved < LEAST.or_zero() || (saved as f64) < PART * took as f64 {
            continue;
        }
        match &mut all {
            None => all = Some(Serial { row, requests: 1, saved, took, worst: (parent, run) }),
            Some(all) => {
                all.requests += 1;
                all.saved = all.saved.saturating_add(saved);
                all.took = all.took.saturating_add(took);
                if parent.dur > all.worst.0.dur {
                    all.worst = (parent, run);
                }
            }
        }
    }
    all.filter(|all| all.requests >= OFTEN)
}

/// Of what a request asked, the questions that depend on no answer and were asked one behind the other, and what it would
/// save to ask them at once. Several of one endpoint are another matter (n-plus-one-queries).
#[gated]
fn longest_run<'f>(
    facts: &'f Facts,
    parent: &RequestRecord,
    children: &[&'f RequestRecord],
) -> Option<(Vec<&'f RequestRecord>, u64)> {
    let mut run: Vec<&RequestRecord> = children
        .iter()
        .copied()
        .filter(|child| child.end.is_known() && child.begin.is_known() && !child.failed())
        .filter(|child| {
            facts.requests.endpoint(child.endpoint).is_some_and(|row| is_free(parent, child, row))
        })
        .collect();
    run.sort_by_key(|child| child.begin);
    let mut seen = Vec::new();
    run.retain(|child| {
        let first = !seen.contains(&child.endpoint);
        seen.push(child.endpoint);
        first
    });
    let serial = run.windows(2).all(|pair| pair[0].end <= pair[1].begin);
    let sum = run.iter().fold(0u64, |sum, child| sum.saturating_add(child.dur.or_zero()));
    let longest = run.iter().map(|child| child.dur.or_zero()).max()?;
    (run.len() >= 2 && serial).then(|| (run, sum - longest))
}

/// True for a question that reads, and of which every value stands in the request that is served.
fn is_free(parent: &RequestRecord, child: &RequestRecord, row: &EndpointFacts) -> bool {
    let reads = match row.protocol {
        Some("Redis") => READING.contains(&child.detail.split(' ').next().unwrap_or_default()),
        Some(protocol) if protocol.starts_with("HTTP") => child.detail.starts_with("GET "),
        _ => false,
    };
    let whole = !child.detail.contains(['*', '…']);
    let fixed = |value: &str| words_of(&row.name).any(|word| word == value);
    reads && whole && values(child).all(|value| fixed(value) || stands_in(parent, value))
}

/// The words of a question that may be a value: those with a digit.
#[gated]
fn values(record: &RequestRecord) -> impl Iterator<Item = &str> {
    words_of(&record.detail).filter(|word| word.bytes().any(|byte| byte.is_ascii_digit()))
}

fn stands_in(parent: &RequestRecord, value: &str) -> bool {
    words_of(&parent.detail).any(|word| word == value)
}

/// Commands that read (redis.io/commands, category @read).
const READING: [&str; 16] = [
    "GET",
    "MGET",
    "HGET",
    "HMGET",
    "HGETALL",
    "SMEMBERS",
    "SCARD",
    "SISMEMBER",
    "LRANGE",
    "LLEN",
    "ZRANGE",
    "ZREVRANGE",
    "ZSCORE",
    "ZCARD",
    "EXISTS",
    "STRLEN",
];

fn words_of(text: &str) -> impl Iterator<Item = &str> {
    text.split(|one: char| !(one.is_alphanumeric() || matches!(one, '-' | '_')))
        .filter(|word| !word.is_empty())
}

/// Whom the questions are for, where that is one or two: `10.0.0.1:8080 `.
fn whom(facts: &Facts, run: &[&RequestRecord]) -> String {
    let mut peers: Vec<&str> = run.iter().filter_map(|child| child.peer.as_deref()).collect();
    peers.sort_unstable();
    peers.dedup();
    match peers[..] {
        [one] => format!("{} ", facts.peer_words(one)),
        [one, other] => format!("{} and {} ", facts.peer_words(one), facts.peer_words(other)),
        _ => String::new(),
    }
}

#[gated]
fn report(facts: &Facts, out: &mut Findings<'_>, serial: &Serial<'_>) {
    let (worst, run) = (&serial.worst.0, &serial.worst.1);
    let value = (serial.saved as f64 / serial.took.max(1) as f64).min(1.0);
    let share_saved = Measurement::share("share_saved", value).at_least(PART);
    let share = Share::of_time(value, format!("time of the slowest requests of {}", serial.row.name));
    let sum = run.iter().fold(0u64, |sum, child| sum.saturating_add(child.dur.or_zero()));
    let longest = run.iter().map(|child| child.dur).max().unwrap_or_default();
    let title = format!(
        "{} asks {}{} one after the other, {} in all, though no question needs the answer before it: at once {} would do",
        serial.row.name,
        whom(facts, run),
        words::plural(run.len() as u64, "thing"),
        words::duration(Nanos::new(sum)),
        words::duration(longest),
    );
    // A question without a value may hang on anything; two with the request's own values do not on each other.
    let own = run.iter().filter(|child| values(child).any(|value| stands_in(worst, value)));
    let own = own.count() as u64;
    let evident = own >= FREE;
    let each = Nanos::new(serial.saved / serial.requests.max(1) as u64);
    let mut found = out
        .report(share, title)
        .subject(Subject { endpoint: Some(serial.row.name.to_string()), ..Subjects::thread(facts, worst.tid) })
        .cause(format!(
            "{} of {} show it: each question begins when the one before is answered, and every value in it stands in the \
             request itself. That an answer decides whether the next question is asked is not seen.",
            words::plural(serial.requests as u64, "request"),
            serial.row.name,
        ))
        .measured(Measurement::count("questions", run.len() as u64))
        .measured(Measurement::time("time", Nanos::new(sum)))
        .measured(Measurement::time("longest", longest))
        .measured(Measurement::time("time_saved_per_request", each).at_least(LEAST.or_zero() as f64))
        .measured(share_saved)
        .measured(Measurement::count("requests", serial.requests as u64).at_least(OFTEN as f64))
        .measured(guards::passed(Measurement::count("questions_with_values", own), FREE as f64))
        .at_most(if evident { Severity::Warning } else { Severity::Notice })
        .fix("ask at once and wait for all: Promise.all, asyncio.gather, CompletableFuture.allOf, errgroup, a thread each")
        .fix("several commands to one server: a pipeline, or one request that takes a list")
        .saving(Nanos::new(serial.saved))
        .evidence(Some(&worst.first_line))
        .evidence_all(run.iter().map(|child| &child.first_line));
    for child in run {
        found = found.link(ChainLink {
            who: format!("{}", worst.tid),
            waits_for: format!("{} ({})", child.peer.as_deref().unwrap_or("an unknown server"), child.detail),
            ns: child.dur,
            evidence: facts.evidence(&child.first_line).source,
        });
    }
    found.verify(format!("whyslow requests --match '{}' --slowest 20 FILE", serial.row.name)).file();
}
