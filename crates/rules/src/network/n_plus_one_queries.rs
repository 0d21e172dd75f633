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
//! Where calls are only counted, what is asked is not seen: then that a process asks one server so often for each answer that it gives,
//! in small messages, one behind the other, is what is judged, and is at most a warning.
//! A program that serves nobody and asks one query over and over is in such a loop, too; it may want each row at its own time.
//! Questions that were sent together (pipelined) are one round trip, and are not counted. A program that must ask step by
//! step (a tree, a lock) cannot ask at once.

use super::asked::{self, MANY};
use super::{counted_queries, query_loops};
use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::guards::Share;
use crate::words;
use whyslow_facts::Facts;
use whyslow_facts::folds::requests::{Downstream, EndpointFacts, Side};
use whyslow_model::{Measurement, Nanos, Severity, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "n-plus-one-queries",
    group: "network",
    summary: "one request asks another server the same thing again and again",
    source: include_str!("n_plus_one_queries.rs"),
    needs: &[
        Need::Either(&[Need::Durations, Need::Table("files")]),
        Need::Either(&[Need::Clock, Need::Table("files")]),
    ],
    check,
};

/// Findings at most.
const MOST: usize = 3;

#[gated]
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
    for (row, asked, part) in loops {
        report(facts, out, row, asked, part);
    }
    if facts.mostly_counted() && counted_queries::check(facts, out, MANY, MOST) {
        return;
    }
    if asked::serves(facts) {
        return query_loops::by_count(facts, out, MANY, MOST);
    }
    if !facts.knows_descriptors() && facts.requests.count() == 0 {
        return out
            .not_judged("what descriptors lead to", "lsof -nP -p PID > trace.lsof   (or strace with -yy)");
    }
    query_loops::of_nobody(facts, out, MOST);
}

#[gated]
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
        .fix(query_loops::at_once(asked))
        .fix("code: find the loop around the query; mappers load on access (lazy loading): load with the first query (select_related, includes, JOIN FETCH, a data loader)")
        .fix("where each answer is needed for the next question: pipeline, or keep what seldom changes")
        .saving(Nanos::new(needless))
        .evidence(slowest.map(|record| &record.first_line))
        .evidence(example.or(asked.kept().next()).map(|record| &record.first_line));
    // A request that takes no time to speak of is none the worse for it.
    if row.stats.percentile(0.5) < asked::QUICK {
        found = found.at_most(Severity::Notice);
    }
    found.verify(format!("whyslow requests --match '{}' --slowest 100 FILE", asked::to_match(asked))).file();
}
