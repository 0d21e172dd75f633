//! Queries that are asked in a loop, where it is not seen for which request: of programs that serve nobody, and of threads that serve several
//! requests at a time.

use super::asked;
use crate::engine::{Findings, Subjects};
use crate::gate::gated;
use crate::guards::{self, Share};
use crate::words;
use whyslow_facts::Facts;
use whyslow_facts::folds::requests::{EndpointFacts, EndpointId, Side};
use whyslow_model::{Measurement, Nanos, Subject, Tid};

/// Of a program that serves nobody; at most so many findings.
#[gated]
pub(super) fn of_nobody(facts: &Facts, out: &mut Findings<'_>, most: usize) {
    let mut queries: Vec<(&EndpointFacts, Share)> = facts
        .requests
        .endpoints()
        .iter()
        .filter(|row| row.side == Side::Client && asked::reads_one(row) && is_loop(facts, row))
        .map(|row| (row, asked::share(facts, only_thread(row), row.stats.total_ns, row.stats.count)))
        .filter(|(_, share)| share.value.is_some_and(|value| value >= guards::WARNING_SHARE))
        .collect();
    queries.sort_by_key(|(row, _)| std::cmp::Reverse(row.stats.total_ns));
    for (row, share) in queries.into_iter().take(most) {
        report_loop(facts, out, row, share, None);
    }
}

/// A thread that serves several requests at a time does not tell for which of them it asks: the numbers of both tell.
#[gated]
pub(super) fn by_count(facts: &Facts, out: &mut Findings<'_>, many: f64, most: usize) {
    let rows = || facts.requests.endpoints().iter();
    let served = || rows().filter(|row| row.side == Side::Server && row.stats.count > 0);
    let requests: u64 = served().map(|row| row.stats.count).sum();
    let whole = served().fold(0u64, |sum, row| sum.saturating_add(row.stats.total_ns));
    let asked_for = |at: usize| {
        let parts = served().flat_map(|row| &row.downstream);
        parts.filter(|part| part.endpoint == EndpointId(at as u32)).map(|part| part.trips).sum::<u64>()
    };
    let mut loops: Vec<&EndpointFacts> = rows()
        .enumerate()
        .filter(|(at, row)| row.side == Side::Client && asked_for(*at).saturating_mul(2) < row.stats.count)
        .map(|(_, row)| row)
        // What is not seen may be asked beside all requests, but for what was asked while several were served.
        .filter(|row| asked::reads_one(row) || row.ambiguous.saturating_mul(2) >= row.stats.count)
        .filter(|row| row.stats.count as f64 / requests.max(1) as f64 >= many && is_loop(facts, row))
        .collect();
    loops.sort_by_key(|row| std::cmp::Reverse(row.stats.total_ns));
    for row in loops.into_iter().take(most) {
        let value = Some((row.stats.total_ns as f64 / whole.max(1) as f64).min(1.0));
        let share = Share::of_time(value, "time of all requests served");
        report_loop(facts, out, row, share, Some((requests, many)));
    }
}

/// A query of a program that serves nobody, asked so often, each quickly answered before the next, that it is a loop.
#[gated]
fn is_loop(facts: &Facts, row: &EndpointFacts) -> bool {
    let peer = row.peer.as_deref().and_then(|name| asked::servers(facts).find(|peer| *peer.name == *name));
    // Sent together, they would be fewer turns of the connection.
    let in_turns = peer.is_none_or(|peer| peer.requests.saturating_mul(2) >= row.stats.count);
    row.stats.count >= guards::few_calls(facts)
        && peer.is_none_or(|peer| !asked::connects_each_time(peer))
        && in_turns
        && (asked::reads_one(row) || asked::asks_alike(row))
        && row.stats.percentile(0.5) < asked::SLOW
}

/// The thread of the requests that are kept, where it is one.
fn only_thread(row: &EndpointFacts) -> Option<Tid> {
    let first = row.kept().next()?.tid;
    row.kept().all(|record| record.tid == first).then_some(first)
}

fn report_loop(
    facts: &Facts,
    out: &mut Findings<'_>,
    row: &EndpointFacts,
    share: Share,
    requests: Option<(u64, f64)>,
) {
    let slowest = row.kept().max_by_key(|record| record.dur);
    let peer = row.peer.as_deref();
    let who = asked::asker(facts, slowest.map(|record| record.process));
    let part =
        share.value.map_or(String::new(), |value| format!(": {} of {}", words::percent(value), share.of));
    let per_request = requests.map(|(requests, many)| {
        let each = row.stats.count as f64 / requests.max(1) as f64;
        Measurement::number("round_trips_per_request", each).at_least(many)
    });
    let times = match &per_request {
        Some(each) => format!("{each} times a request"),
        None => format!("{} times, one behind the other", words::count(row.stats.count)),
    };
    let of_time = share.figure();
    // Where requests are served, how often each asks decides.
    let of_time = if requests.is_none() { of_time.at_least(guards::WARNING_SHARE) } else { of_time };
    let median = Measurement::time("p50", row.stats.percentile(0.5)).at_most(asked::SLOW.or_zero() as f64);
    let title = format!("{who} asks {} {times}{part}", asked::whom_for_what(row));
    // A batch of ten takes a tenth of the turns.
    let needless = row.stats.total_ns / 10 * 9;
    out.report(share, title)
        .measured(
            Measurement::count("round_trips", row.stats.count).at_least(guards::few_calls(facts) as f64),
        )
        .measured_all(requests.map(|(requests, _)| Measurement::count("requests", requests)))
        .measured_all(per_request)
        .measured(median)
        .measured(of_time)
        .subject(Subject {
            peer: peer.map(str::to_string),
            endpoint: Some(row.name.to_string()),
            protocol: asked::mark(row),
            ..Subjects::thread(facts, slowest.map_or(0, |record| record.tid))
        })
        .cause(format!(
            "The same query is asked {}, with other keys, p50 {}: a round trip for each item.{}",
            words::plural(row.stats.count, "time"),
            words::duration(row.stats.percentile(0.5)),
            asked::by_direction(&asked::mark(row)),
        ))
        .fix(at_once(row))
        .fix("code: find the loop around the query, and ask before the loop for all that it needs")
        .saving(Nanos::new(needless))
        .evidence(slowest.map(|record| &record.first_line))
        .verify(format!("whyslow requests --match '{}' --slowest 100 FILE", asked::to_match(row)))
        .file();
}

/// What to do instead.
pub(super) fn at_once(asked: &EndpointFacts) -> &'static str {
    match asked.protocol {
        Some("PostgreSQL" | "MySQL") => "ask for all rows at once: a JOIN, or WHERE id IN (…) / = ANY($1)",
        Some("Redis") => "ask for all keys at once: MGET, HMGET, or a pipeline",
        Some("MongoDB") => "ask for all documents at once: find with $in, or $lookup",
        Some("memcached") => "ask for all keys at once: a get of several keys",
        None => {
            "ask for all items at once: one question that takes a list; or send all questions before the first answer is needed (pipelining)"
        }
        _ => "ask for all items at once: an endpoint that takes a list",
    }
}
