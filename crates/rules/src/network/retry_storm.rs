//! # retry-storm
//!
//! ## What it is
//! A request to another server fails, and the program asks the same again at once, again and again, without a pause that
//! grows; or it sends the same again before anything has come back. Or clients of the program give up before its answer comes, and ask the same again.
//!
//! ## Why it is slow
//! Who waits for the answer waits for all the tries. The server that failed because it had too much to do gets several
//! times as much, so that it cannot recover. Where the layer above tries again too, the tries multiply.
//!
//! ## Example
//! ```text
//! GET /price/17  503  (12 ms)
//! GET /price/17  503  (11 ms)     0.1 ms later
//! GET /price/17  503  (12 ms)     0.1 ms later …
//! ```
//!
//! ## What to do instead
//! Few tries, with a pause that grows and differs from client to client (exponential back-off with jitter), and a budget: no
//! more than a tenth of all requests may be tries. Retry in one layer only. When a server fails most of the time, leave it
//! alone for a while (circuit breaker), and honour Retry-After.
//!
//! ## When it is wrong
//! One or two tries at once are usual and do little harm. Requests that differ only in their query or body look alike here: a
//! loop over many items that all fail is shown as one. Where nothing decodes the protocol, only what is the same word by word
//! counts, and only of peers that answer at all: metrics and logs are sent, not asked. A recording has no such bytes. A request that fails and is asked at a fixed pause of a tenth of a
//! second or more is a poll, no storm.

use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::guards::{self, Share};
use crate::words;
use whyslow_facts::Facts;
use whyslow_facts::folds::requests::{Ending, EndpointFacts, Retries, Side};
use whyslow_model::{Measurement, Nanos, Severity, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "retry-storm",
    group: "network",
    summary: "a request that failed, or has no answer yet, is asked again and again without a pause",
    source: include_str!("retry_storm.rs"),
    needs: &[Need::Durations, Need::Clock, Need::Descriptors],
    check,
};

/// Tries of one request, one behind the other, from which on it is no usual second attempt.
const RUN: u64 = 4;
/// Tries again in all from which on, with the load that they put on the server, it is a warning whatever time they take.
const MANY: u64 = 20;
/// Requests that are tries again, as a part of all: the server gets twice what it needs to.
const HALF: f64 = 0.5;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let rows = facts.requests.endpoints().iter();
    let mut storms: Vec<&EndpointFacts> = rows.filter(|row| row.retries.longest >= RUN).collect();
    storms.sort_by_key(|row| std::cmp::Reverse(row.retries.ns));
    for row in storms {
        match row.side {
            Side::Client => report(facts, out, row, &row.retries),
            Side::Server => report_clients(facts, out, row, &row.retries),
        }
    }
}

/// Clients of ours ask again before they have their answer.
#[gated]
fn report_clients(facts: &Facts, out: &mut Findings<'_>, row: &EndpointFacts, retries: &Retries) {
    let Some((first, last)) = retries.example.as_deref() else { return };
    let all = row.stats.count.saturating_add(row.open).max(retries.count + 1);
    let part = Measurement::share("repeats", retries.count as f64 / all as f64).at_least(HALF);
    let tries = Measurement::count("longest_run", retries.longest).at_least(RUN as f64);
    let patience = Measurement::time("patience", Nanos::new(retries.ns / retries.count.max(1)));
    let answered = row.kept().filter(|record| record.ending == Ending::Answered);
    let longest = answered.map(|record| record.dur).filter(|dur| dur.is_known()).max();
    let answer = longest.map(|longest| Measurement::time("longest_answer", longest));
    let takes = answer.as_ref().map_or(String::new(), |answer| format!("; an answer takes up to {answer}"));
    let least = if retries.count >= MANY && part.value.is_some_and(|part| part >= HALF) {
        Severity::Warning
    } else {
        Severity::Notice
    };
    let mut found = out.report(
        Share::unknown(),
        format!(
            "clients ask {} again before it is answered, up to {tries} times in a row: {part} of {} are repeats, {patience} after the \
             one before{takes}",
            row.name,
            words::plural(all, "request"),
        ),
    );
    for figure in [Some(part), Some(tries), Some(patience), answer, Some(Measurement::count("requests", all))]
        .into_iter()
        .flatten()
    {
        found = found.measured(figure);
    }
    found
        .subject(Subject { endpoint: Some(row.name.to_string()), ..Subjects::thread(facts, first.tid) })
        .cause(
            "The clients' time limit is shorter than what an answer takes. They ask the same again, on the same connection or a new one, \
             and each repeat is work too, for an answer that nobody may wait for any more.",
        )
        .at_least(least)
        .fix("clients: a time limit above what an answer takes at its slowest, and a pause that grows before each further try, by chance longer or shorter")
        .fix("code: know a repeat by its key (Idempotency-Key, the id in the path), answer it from the work that is under way, and drop work whose client has left")
        .fix(format!("make the answer quicker: whyslow requests --match '{}' shows where its time goes", row.name))
        .evidence(Some(first))
        .evidence(Some(last))
        .verify(format!("whyslow requests --match '{}' --errors FILE", row.name))
        .file();
}

#[gated]
fn report(facts: &Facts, out: &mut Findings<'_>, row: &EndpointFacts, retries: &Retries) {
    let Some((first, last)) = retries.example.as_deref() else { return };
    let peer = row.peer.as_deref().unwrap_or("a server");
    let all = row.stats.count.max(retries.messages).max(1);
    let part = (retries.count as f64 / all as f64).min(1.0);
    let of_requests = guards::passed(Measurement::share("share_of_requests", part), HALF);
    let in_a_row = Measurement::count("tries_in_a_row", retries.longest).at_least(RUN as f64);
    let load = all as f64 / all.saturating_sub(retries.count).max(1) as f64;
    let share = guards::share_of_ns(facts, Some(first.tid), Nanos::new(retries.ns), retries.count);
    let least = if retries.count >= MANY && part >= HALF { Severity::Warning } else { Severity::Notice };
    let status = row.kept().find(|record| record.failed());
    let status = status.and_then(|record| record.status.as_ref()).map_or("no answer", |status| &*status.text);
    let title = match retries.messages {
        0 => format!(
            "{} at {peer} fails ({status}) and is asked again at once, up to {} times in a row: {} of {}",
            row.name,
            in_a_row,
            of_requests,
            words::plural(all, "request"),
        ),
        _ => format!(
            "{peer} is sent the same again before it has answered, up to {} times in a row: {} of {}",
            in_a_row,
            of_requests,
            words::plural(all, "message"),
        ),
    };
    let cause = match retries.messages {
        0 => format!(
            "{} asked the same again within a tenth of a second after it had failed, without a pause that grows; the tries that \
             failed took {}. The server gets {:.1} times the load that it needs to.",
            words::plural(retries.count, "request"),
            words::duration(Nanos::new(retries.ns)),
            load,
        ),
        _ => format!(
            "{} sent word by word again within a tenth of a second, by the same thread, without a pause that grows and before anything had come \
             back: the time limit is shorter than what an answer takes. The server works on each copy, {:.1} times the load that it needs to.",
            words::plural(retries.count, "message"),
            load,
        ),
    };
    out.report(share, title)
    .measured(in_a_row)
    .measured(of_requests)
    .measured(Measurement::count("requests", all))
    .measured(guards::passed(Measurement::count("retries", retries.count), MANY as f64))
    .measured(Measurement::time("time", Nanos::new(retries.ns)))
    .measured(Measurement::number("times_the_load", load))
    .subject(Subject {
        peer: row.peer.as_deref().map(str::to_string),
        endpoint: Some(row.name.to_string()),
        ..Subjects::thread(facts, first.tid)
    })
    .cause(cause)
    .at_least(least)
    .fix("wait before each further try, longer each time and by chance longer or shorter (exponential back-off with jitter), and stop after two or three")
    .fix("give retries a budget (a tenth of the requests), in one layer only, and leave a server alone that fails most of the time (circuit breaker)")
    .fix(match retries.messages {
        0 => format!("find out why {peer} fails: its log, or whyslow diagnose on its host at the same time"),
        _ => format!("see how long an answer of {peer} takes, and let the time limit be above that: whyslow peers, or whyslow diagnose on its host"),
    })
    .saving(Nanos::new(retries.ns))
    .evidence(Some(first))
    .evidence(Some(last))
    .verify(format!("whyslow requests --match '{}' --errors FILE", row.name))
    .file();
}
