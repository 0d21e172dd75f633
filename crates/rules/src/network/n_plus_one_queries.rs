//! # n-plus-one-queries
//!
//! ## What it is
//! To answer one request, a program asks another server the same thing again and again, each time for another item, and
//! waits for each answer before it asks for the next.
//!
//! ## Why it is slow
//! Each question costs a round trip: the network, and the work of both ends to take and to give. A hundred of a
//! millisecond are a tenth of a second, and they grow with the data. One question for all items costs little more than one.
//!
//! ## Example
//! ```text
//! SELECT id FROM orders WHERE user_id = ?
//! SELECT name FROM products WHERE id = ?      (again for each of 100 orders)
//! ```
//!
//! ## What to do instead
//! Ask for all items at once: a JOIN or `WHERE id IN (…)`, MGET and HMGET of Redis, an endpoint that takes a list. Mappers have
//! a word for it: `select_related` and `prefetch_related`, `includes`, `JOIN FETCH`, a data loader. Where the items depend
//! on each other, pipeline.
//!
//! ## When it is wrong
//! Questions that were sent together (pipelined) are one round trip, and are not counted. A program that must ask step by
//! step (a tree, a lock) cannot ask at once.

use crate::engine::{Findings, Need, Rule, Subjects};
use crate::guards::Share;
use crate::words;
use whyslow_facts::Facts;
use whyslow_facts::folds::requests::{Downstream, EndpointFacts, Side};
use whyslow_model::{Nanos, Severity, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "n-plus-one-queries",
    group: "network",
    summary: "one request asks another server the same thing again and again",
    source: include_str!("n_plus_one_queries.rs"),
    needs: &[Need::Durations, Need::Clock, Need::Descriptors],
    check,
};

/// Round trips for one request from which on they are a loop: pages that ask for a handful of things do not reach it.
const MANY: f64 = 10.0;
/// Findings at most.
const MOST: usize = 3;

fn check(facts: &Facts, out: &mut Findings<'_>) {
    let served =
        facts.requests.endpoints().iter().filter(|row| row.side == Side::Server && row.stats.count > 0);
    let mut loops: Vec<(&EndpointFacts, &EndpointFacts, &Downstream)> = served
        .flat_map(|row| row.downstream.iter().map(move |part| (row, part)))
        .filter(|(row, part)| part.trips as f64 / row.stats.count as f64 >= MANY)
        .filter_map(|(row, part)| Some((row, facts.requests.endpoint(part.endpoint)?, part)))
        // What is asked is not seen: it may be another thing each time.
        .filter(|(_, asked, _)| &*asked.name != "unknown")
        .collect();
    loops.sort_by_key(|(.., part)| std::cmp::Reverse(part.ns));
    for (row, asked, part) in loops.into_iter().take(MOST) {
        report(facts, out, row, asked, part);
    }
}

fn report(
    facts: &Facts,
    out: &mut Findings<'_>,
    row: &EndpointFacts,
    asked: &EndpointFacts,
    part: &Downstream,
) {
    let whole = row.stats.total_ns.max(1);
    let share =
        Share { value: Some((part.ns as f64 / whole as f64).min(1.0)), of: format!("time of {}", row.name) };
    let each = part.trips as f64 / row.stats.count as f64;
    // One of them would still have to be waited for.
    let needless = part.ns - part.ns / part.trips.max(1) * row.stats.count.min(part.trips);
    let title = format!(
        "{} asks {} for {} {} times a request: {} each",
        row.name,
        asked.peer.as_deref().unwrap_or("a server"),
        asked.name,
        words::quantity(each),
        words::duration(Nanos::new(part.ns / row.stats.count)),
    );
    let slowest =
        row.kept().filter(|record| record.downstream.iter().any(|own| own.endpoint == part.endpoint));
    let slowest = slowest.max_by_key(|record| record.dur);
    let example = asked.kept().find(|record| {
        slowest.is_some_and(|slowest| record.parent.is_some_and(|(number, _)| number == slowest.number))
    });
    let mut found = out
        .report(share, title)
        .subject(Subject {
            peer: asked.peer.as_deref().map(str::to_string),
            endpoint: Some(asked.name.to_string()),
            ..Subjects::thread(facts, slowest.map_or(0, |record| record.tid))
        })
        .cause(format!(
            "{} of {} asked {} for {}, one behind the other, {} each in the median: a round trip for each item.",
            words::plural(row.stats.count, "request"),
            row.name,
            words::plural(part.trips, "time"),
            asked.name,
            words::duration(asked.stats.percentile(0.5)),
        ))
        .fix(at_once(asked))
        .fix("code: find the loop around the query; mappers load on access (lazy loading): load with the first query (select_related, includes, JOIN FETCH, a data loader)")
        .fix("where each answer is needed for the next question: pipeline, or keep what seldom changes")
        .saving(Nanos::new(needless))
        .evidence(slowest.map(|record| &record.first_line))
        .evidence(example.or(asked.kept().next()).map(|record| &record.first_line));
    // A request that takes no time to speak of is none the worse for it.
    if row.stats.percentile(0.5) < QUICK {
        found = found.at_most(Severity::Notice);
    }
    found.verify(format!("whyslow requests --match '{}' --slowest 100 FILE", asked.name)).file();
}

/// A request that is answered within this is quick, whatever it asks.
const QUICK: Nanos = Nanos::from_millis(10);

fn at_once(asked: &EndpointFacts) -> &'static str {
    match asked.protocol {
        Some("PostgreSQL" | "MySQL") => "ask for all rows at once: a JOIN, or WHERE id IN (…) / = ANY($1)",
        Some("Redis") => "ask for all keys at once: MGET, HMGET, or a pipeline",
        Some("MongoDB") => "ask for all documents at once: find with $in, or $lookup",
        Some("memcached") => "ask for all keys at once: a get of several keys",
        _ => "ask for all items at once: an endpoint that takes a list",
    }
}
