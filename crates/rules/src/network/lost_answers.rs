//! Answers that were lost: to which requests, and after what time their clients left.

use crate::gate::gated;
use crate::words;
use whyslow_facts::Facts;
use whyslow_facts::folds::requests::{Ending, RequestRecord};
use whyslow_model::Nanos;

/// The endpoint of a request, where it can be seen.
#[gated]
pub(super) fn name_of<'f>(facts: &'f Facts, request: &RequestRecord) -> Option<&'f str> {
    facts.requests.endpoint(request.endpoint).filter(|row| !row.is_hidden()).map(|row| &*row.name)
}

/// ` to GET /feed`, ` to GET /feed and 2 other endpoints`; nothing where no request is known.
#[gated]
pub(super) fn asked_for(facts: &Facts, requests: &[Option<&RequestRecord>]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for name in requests.iter().flatten().filter_map(|request| name_of(facts, request)) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    match names[..] {
        [] => String::new(),
        [one] => format!(" to {one}"),
        [first, ..] => format!(" to {first} and {}", words::plural(names.len() as u64 - 1, "other endpoint")),
    }
}

/// How long clients waited before they closed their end, in the median of those of which a read told it.
#[gated]
pub(super) fn left_after(requests: &[Option<&RequestRecord>]) -> Option<Nanos> {
    let left = requests.iter().flatten().map(|one| one.client_left.since(one.begin));
    let mut left: Vec<Nanos> = left.filter(|after| after.is_known()).collect();
    left.sort_unstable();
    left.get(left.len() / 2).copied()
}

/// What is known of the clients' time limit.
#[derive(Clone, Copy)]
pub(super) enum TimeLimit {
    /// A read told when one left, so long after its request.
    LeftAfter(Nanos),
    /// It lies between the longest answer that was taken and the shortest that was not.
    Between(Nanos, Nanos),
    /// It is shorter than the answer took.
    Shorter,
}

impl TimeLimit {
    /// The end of a sentence.
    pub(super) fn words(self) -> String {
        match self {
            TimeLimit::LeftAfter(left) => {
                format!("; it had left {} after the request was read", words::duration(left))
            }
            TimeLimit::Between(longest, shortest) => format!(
                ", so its time limit lies between {} (the longest answer that was taken) and {}",
                words::duration(longest),
                words::duration(shortest)
            ),
            TimeLimit::Shorter => ", so its time limit is shorter than that".to_string(),
        }
    }
}

/// The clients' time limit, where the longest of their answers took `elapsed`.
#[gated]
pub(super) fn time_limit(facts: &Facts, requests: &[Option<&RequestRecord>], elapsed: Nanos) -> TimeLimit {
    if let Some(left) = left_after(requests) {
        return TimeLimit::LeftAfter(left);
    }
    let known = || requests.iter().flatten();
    let shortest =
        known().map(|one| one.dur).filter(|dur| dur.is_known()).min().map_or(elapsed, |dur| dur.min(elapsed));
    let rows = known().filter_map(|one| facts.requests.endpoint(one.endpoint));
    let taken = rows.flat_map(|row| row.kept()).filter(|one| one.ending == Ending::Answered);
    let longest = taken.map(|one| one.dur).filter(|dur| dur.is_known()).max();
    match longest {
        Some(longest) if longest < shortest => TimeLimit::Between(longest, shortest),
        _ => TimeLimit::Shorter,
    }
}
