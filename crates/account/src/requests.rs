//! The time of requests by endpoint: that of all of them, and that of the slowest apart, which often wait for something else.
//!
//! Of all requests their threads' own calls are known, by kind. The slowest are kept, and followed through whom they waited for.

use crate::parts::Part;
use crate::states;
use crate::{RequestSpan, Spent};
use std::collections::BTreeMap;
use whyslow_facts::folds::account::ObjectKind;
use whyslow_facts::folds::requests::TimeSplit;
use whyslow_facts::world::ids::ObjectId;
use whyslow_facts::{EndpointId, Facts, WaitKind};
use whyslow_model::{Nanos, RequestPart, RequestTimes, RequestsTime, SaturatingSum, TimeState};

/// Of fewer requests the slowest are no part by themselves.
const ENOUGH: u64 = 10;
/// The part of the requests that is faster than the slowest.
const SLOWEST: f64 = 0.99;
/// Endpoints that are told, those with the most time.
const MOST_ENDPOINTS: usize = 64;
/// Parts of the slowest that are told apart.
const MOST_PARTS: usize = 16;

/// The time from which on a request is one of the slowest of its endpoint; `None` where there are too few.
pub(crate) fn slow_from(facts: &Facts, endpoint: EndpointId) -> Option<Nanos> {
    let stats = &facts.requests.endpoint(endpoint)?.stats;
    let from = stats.percentile(SLOWEST);
    // Percentiles are those of buckets: the longest is one of the slowest, whatever they say.
    let from = if from > stats.max() { stats.max() } else { from };
    (stats.count >= ENOUGH && from.is_known()).then_some(from)
}

/// The endpoints whose requests were followed, those with the most time first.
pub(crate) fn times(facts: &Facts, spent: &Spent<'_>) -> Vec<RequestTimes> {
    let mut spans: BTreeMap<EndpointId, Vec<&RequestSpan>> = BTreeMap::new();
    for span in &spent.requests {
        spans.entry(span.endpoint).or_default().push(span);
    }
    let mut all: Vec<RequestTimes> = spans
        .into_iter()
        .filter_map(|(id, spans)| {
            let endpoint = facts.requests.endpoint(id)?;
            let all = of_split(&endpoint.split, endpoint.split_count)?;
            let slow = || spans.iter().filter(|span| span.is_slow);
            let parts = spent.parts.iter().filter(|part| part.request == Some(id) && part.is_slow);
            let slowest = of_parts(facts, parts, slow().count() as u64, slow().map(|span| span.dur).min());
            Some(RequestTimes { endpoint: endpoint.name.to_string(), all, slowest })
        })
        .collect();
    all.sort_by(|a, b| b.all.ns.cmp(&a.all.ns).then_with(|| a.endpoint.cmp(&b.endpoint)));
    all.truncate(MOST_ENDPOINTS);
    all
}

fn of_split(split: &TimeSplit, count: u64) -> Option<RequestsTime> {
    let waits = WaitKind::ALL.iter().map(|kind| {
        let state = states::of_wait(Some(*kind), ObjectKind::Nothing);
        (state, split.waiting_ns[*kind as usize])
    });
    let others = [(TimeState::InCall, split.working_ns), (TimeState::BetweenCalls, split.between_ns)];
    let parts = waits.chain(others).map(|(state, ns)| ((state, None), ns));
    time(parts, count, Nanos::UNKNOWN)
}

fn of_parts<'a, 'p: 'a>(
    facts: &Facts,
    parts: impl Iterator<Item = &'a Part<'p>>,
    count: u64,
    from: Option<Nanos>,
) -> Option<RequestsTime> {
    let name = |part: &Part<'_>| {
        let object = facts.accounts.objects.get(part.object);
        let name = match object.kind {
            ObjectKind::Peer => facts.peer_words(object.name()).into_owned(),
            _ => object.name().to_string(),
        };
        Some(name).filter(|name| part.object != ObjectId::NONE && !name.is_empty())
    };
    time(parts.map(|part| ((part.state, name(part)), part.ns)), count, from?)
}

fn time(
    parts: impl Iterator<Item = ((TimeState, Option<String>), u64)>,
    count: u64,
    from_ns: Nanos,
) -> Option<RequestsTime> {
    let mut sums: BTreeMap<(TimeState, Option<String>), u64> = BTreeMap::new();
    for (of, ns) in parts.filter(|(_, ns)| *ns > 0) {
        let sum = sums.entry(of).or_default();
        *sum = sum.saturating_add(ns);
    }
    let ns = sums.values().copied().saturating_sum();
    let mut parts: Vec<((TimeState, Option<String>), u64)> = sums.into_iter().collect();
    parts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    // What is left goes by state alone.
    let rest = parts.split_off(parts.len().min(MOST_PARTS));
    for ((state, _), ns) in rest {
        match parts.iter_mut().find(|((known, object), _)| *known == state && object.is_none()) {
            Some((_, sum)) => *sum = sum.saturating_add(ns),
            None => parts.push(((state, None), ns)),
        }
    }
    let part = |((state, object), part): ((TimeState, Option<String>), u64)| RequestPart {
        state,
        object,
        ns: part,
        share: part as f64 / ns.max(1) as f64,
    };
    (count > 0 && ns > 0).then(|| RequestsTime {
        count,
        from_ns,
        ns,
        mean_ns: Nanos::new(ns / count),
        parts: parts.into_iter().map(part).collect(),
    })
}
