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
//! Of a protocol that is not known only the sizes of the questions tell that the same is asked: they are all about as large (a quarter off at
//! most). What is asked in questions of different sizes is not judged.
//! A program that serves nobody and asks one query over and over is in such a loop, too; it may want each row at its own time.
//! Questions that were sent together (pipelined) are one round trip, and are not counted. A program that must ask step by
//! step (a tree, a lock) cannot ask at once.

use super::asked;
use crate::engine::{Findings, Need, Rule, Subjects};
use crate::guards::{self, Share};
use crate::words;
use whyslow_facts::Facts;
use whyslow_facts::folds::requests::{Downstream, EndpointFacts, EndpointId, Side};
use whyslow_model::{Measurement, Nanos, Severity, Subject, Tid};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "n-plus-one-queries",
    group: "network",
    summary: "one request asks another server the same thing again and again",
    source: include_str!("n_plus_one_queries.rs"),
    needs: &[Need::Durations, Need::Clock],
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
        .collect();
    // What is asked is not seen: it may be another thing each time, but where all questions are as large.
    loops.retain(|(_, asked, _)| {
        let is_seen = !asked.is_hidden() || asked::asks_alike(asked);
        if !is_seen && asked.is_undecoded() {
            out.not_judged(
                format!(
                    "what {} is asked: its protocol is not known",
                    asked.peer.as_deref().unwrap_or("a server")
                ),
                "strace -f -ttT -yy -s 256 -o trace.st -p PID   (shows how each question begins)",
            );
        }
        is_seen
    });
    loops.sort_by_key(|(.., part)| std::cmp::Reverse(part.ns));
    for (row, asked, part) in loops.into_iter().take(MOST) {
        report(facts, out, row, asked, part);
    }
    if asked::serves(facts) {
        return by_count(facts, out);
    }
    if !facts.knows_descriptors() && facts.requests.count() == 0 {
        return out
            .not_judged("what descriptors lead to", "lsof -nP -p PID > trace.lsof   (or strace with -yy)");
    }
    let mut queries: Vec<(&EndpointFacts, Share)> = facts
        .requests
        .endpoints()
        .iter()
        .filter(|row| row.side == Side::Client && asked::reads_one(row) && is_loop(facts, row))
        .map(|row| (row, asked::share(facts, only_thread(row), row.stats.total_ns, row.stats.count)))
        .filter(|(_, share)| share.value.is_some_and(|value| value >= guards::WARNING_SHARE))
        .collect();
    queries.sort_by_key(|(row, _)| std::cmp::Reverse(row.stats.total_ns));
    for (row, share) in queries.into_iter().take(MOST) {
        report_loop(facts, out, row, share, None);
    }
}

/// A thread that serves several requests at a time does not tell for which of them it asks: the numbers of both tell.
fn by_count(facts: &Facts, out: &mut Findings<'_>) {
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
        .filter(|row| row.stats.count as f64 / requests.max(1) as f64 >= MANY && is_loop(facts, row))
        .collect();
    loops.sort_by_key(|row| std::cmp::Reverse(row.stats.total_ns));
    for row in loops.into_iter().take(MOST) {
        let value = Some((row.stats.total_ns as f64 / whole.max(1) as f64).min(1.0));
        let share = Share::of_time(value, "time of all requests served");
        report_loop(facts, out, row, share, Some(requests));
    }
}

/// A query of a program that serves nobody, asked so often, each quickly answered before the next, that it is a loop.
fn is_loop(facts: &Facts, row: &EndpointFacts) -> bool {
    let peer = row.peer.as_deref().and_then(|name| asked::servers(facts).find(|peer| *peer.name == *name));
    // Sent together, they would be fewer turns of the connection.
    let in_turns = peer.is_none_or(|peer| peer.requests.saturating_mul(2) >= row.stats.count);
    row.stats.count >= guards::FEW_CALLS
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
    requests: Option<u64>,
) {
    let slowest = row.kept().max_by_key(|record| record.dur);
    let peer = row.peer.as_deref();
    let who = asked::asker(facts, slowest.map(|record| record.process));
    let part =
        share.value.map_or(String::new(), |value| format!(": {} of {}", words::percent(value), share.of));
    let per_request = requests.map(|requests| {
        let each = row.stats.count as f64 / requests.max(1) as f64;
        Measurement::number("round_trips_per_request", each).at_least(MANY)
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
        .measured(Measurement::count("round_trips", row.stats.count).at_least(guards::FEW_CALLS as f64))
        .measured_all(requests.map(|requests| Measurement::count("requests", requests)))
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

fn report(
    facts: &Facts,
    out: &mut Findings<'_>,
    row: &EndpointFacts,
    asked: &EndpointFacts,
    part: &Downstream,
) {
    let whole = row.stats.total_ns.max(1);
    let share = Share::of_time(
        (part.ns as f64 / whole as f64).min(1.0),
        format!("time of {}", asked::served_words(row)),
    );
    let each = part.trips as f64 / row.stats.count as f64;
    let each = Measurement::number("round_trips_per_request", each).at_least(MANY);
    let time = Nanos::new(part.ns / row.stats.count);
    // One of them would still have to be waited for.
    let needless = part.ns - part.ns / part.trips.max(1) * row.stats.count.min(part.trips);
    let title = format!(
        "{} asks {} {} times per request: {} each",
        asked::server_words(facts, row),
        asked::whom_for_what(asked),
        each,
        words::duration(time),
    );
    let slowest =
        row.kept().filter(|record| record.downstream.iter().any(|own| own.endpoint == part.endpoint));
    let slowest = slowest.max_by_key(|record| record.dur);
    let example = asked.kept().find(|record| {
        slowest.is_some_and(|slowest| record.parent.is_some_and(|(number, _)| number == slowest.number))
    });
    let mut found = out
        .report(share, title)
        .measured(each)
        .measured(Measurement::time("time_per_request", time))
        .measured(Measurement::count("requests", row.stats.count))
        .measured(Measurement::count("round_trips", part.trips))
        .measured(Measurement::time("p50", asked.stats.percentile(0.5)))
        .measured(Measurement::time("p50_of_requests", row.stats.percentile(0.5)))
        .subject(Subject {
            peer: asked.peer.as_deref().map(str::to_string),
            endpoint: Some(asked.name.to_string()),
            protocol: asked::mark(asked),
            ..Subjects::thread(facts, slowest.map_or(0, |record| record.tid))
        })
        .cause(format!(
            "{}{} asked {} {}, one after the other, p50 {} each: a round trip for each item.{}",
            words::plural(row.stats.count, "request"),
            if row.is_hidden() { String::new() } else { format!(" of {}", row.name) },
            asked::whom_for_what(asked),
            words::plural(part.trips, "time"),
            words::duration(asked.stats.percentile(0.5)),
            asked::by_direction(&asked::mark(asked)),
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
    found.verify(format!("whyslow requests --match '{}' --slowest 100 FILE", asked::to_match(asked))).file();
}

/// A request that is answered within this is quick, whatever it asks.
const QUICK: Nanos = Nanos::from_millis(10);

fn at_once(asked: &EndpointFacts) -> &'static str {
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
