//! # chatty-exchange
//!
//! ## What it is
//! A program asks another one for very little, waits for the answer, asks for the next little bit: thousands of turns, one behind
//! the other, each of a few bytes and each answered at once.
//!
//! ## Why it is slow
//! Each turn costs both sides a write, a read, a wake-up and the way there and back, whatever is in it. The bytes are nothing;
//! the turns are the time. Between two hosts a turn takes half a millisecond and more: a thousand take half a second.
//!
//! ## Example
//! ```text
//! write(3, "GET /blob/7?from=4096&count=64 HTTP/1.1\r\n"..., 67) = 67 <0.000021>
//! read(3, "HTTP/1.1 200 OK\r\nContent-Length: 64\r\n\r\n"..., 8192) = 122 <0.000098>
//! write(3, "GET /blob/7?from=4160&count=64 HTTP/1.1\r\n"..., 67) = 67 <0.000020>
//! ```
//!
//! ## What to do instead
//! Ask for more at once: larger ranges, a list of keys, a batch. Where the questions are known beforehand, send them without
//! waiting (pipelining), or over several connections at once. Where the other side is one's own: an interface that takes a list.
//!
//! ## When it is wrong
//! Turns that depend on each other, a lock or a game, cannot be joined. What is asked while requests are served is judged by
//! the request: from ten turns on, and not where each is one query that is asked again with other keys (n-plus-one-queries). Turns of more than a segment carry
//! something, and slow answers are the other side's matter (slow-downstream): of a server on the same host those of a millisecond and more. Feeds, logs and replication are no questions: where
//! the direction does not change back for each, nothing is said. Of a connection that is older than the capture the sizes
//! tell who asks: a server that takes much and answers with a word looks the same, which is why such a finding is a warning at most.

use super::asked::{self, MANY};
use super::exchange::{Exchange, SEGMENT, is_chatty, is_one_query, of_peer, unnamed};
use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::guards::{self, Share};
use crate::words;
use std::collections::BTreeMap;
use whyslow_facts::Facts;
use whyslow_facts::folds::requests::Side;
use whyslow_model::{Measurement, Nanos, Severity, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "chatty-exchange",
    group: "network",
    summary: "a great many small questions to one server, each behind the answer to the one before",
    source: include_str!("chatty_exchange.rs"),
    needs: &[Need::Durations, Need::Clock, Need::Descriptors],
    check,
};

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    if asked::serves(facts) {
        return for_requests(facts, out);
    }
    let named =
        asked::servers(facts).filter(|peer| !asked::connects_each_time(peer) && !is_one_query(facts, peer));
    let mut chatty: Vec<(Exchange<'_>, Share)> = named
        .map(of_peer)
        .chain(unnamed(facts))
        .filter(|exchange| is_chatty(facts, exchange))
        .map(|exchange| {
            let share = asked::share(facts, exchange.tid, exchange.turns.total_ns, exchange.turns.count);
            (exchange, share)
        })
        .collect();
    chatty.sort_by_key(|(exchange, _)| std::cmp::Reverse(exchange.turns.total_ns));
    for (exchange, share) in chatty {
        report(facts, out, &exchange, share, None);
    }
}

/// Of what is asked while requests are served: many small questions to one server for each request. Where each is the same question again,
/// n-plus-one-queries says so.
#[gated]
fn for_requests(facts: &Facts, out: &mut Findings<'_>) {
    let served =
        facts.requests.endpoints().iter().filter(|row| row.side == Side::Server && row.stats.count > 0);
    let mut chatty: Vec<(Exchange<'_>, Share, PerRequest)> = Vec::new();
    for row in served {
        let mut by_peer: BTreeMap<&str, Asked> = BTreeMap::new();
        for part in &row.downstream {
            let Some(asked) = facts.requests.endpoint(part.endpoint) else { continue };
            let Some(peer) = asked.peer.as_deref() else { continue };
            let sum = by_peer.entry(peer).or_default();
            sum.trips = sum.trips.saturating_add(part.trips);
            sum.ns = sum.ns.saturating_add(part.ns);
            let same = asked::asks_alike(asked) || !asked.is_hidden();
            sum.is_one_question |= same && part.trips as f64 / row.stats.count as f64 >= MANY;
        }
        for (name, sum) in by_peer.into_iter().filter(|(_, sum)| !sum.is_one_question) {
            let each = sum.trips as f64 / row.stats.count as f64;
            let Some(peer) = asked::servers(facts).find(|peer| *peer.name == *name) else { continue };
            let exchange = of_peer(peer);
            if each >= MANY && !asked::connects_each_time(peer) && is_chatty(facts, &exchange) {
                let share = Share::of_time(
                    (sum.ns as f64 / row.stats.total_ns.max(1) as f64).min(1.0),
                    format!("time of {}", asked::served_words(row)),
                );
                let is_quick = row.stats.percentile(0.5) < asked::QUICK;
                chatty.push((exchange, share, PerRequest { each, ns: sum.ns, trips: sum.trips, is_quick }));
            }
        }
    }
    chatty.sort_by_key(|(.., of)| std::cmp::Reverse(of.ns));
    for (exchange, share, of) in chatty {
        report(facts, out, &exchange, share, Some(of));
    }
}

/// What one server is asked for the requests of one kind.
#[derive(Default)]
struct Asked {
    trips: u64,
    ns: u64,
    is_one_question: bool,
}

/// How often for each request.
struct PerRequest {
    each: f64,
    ns: u64,
    trips: u64,
    /// The requests take no time to speak of.
    is_quick: bool,
}

#[gated]
fn report(
    facts: &Facts,
    out: &mut Findings<'_>,
    exchange: &Exchange<'_>,
    share: Share,
    per_request: Option<PerRequest>,
) {
    let turns = exchange.turns.count;
    let who = asked::asker(facts, exchange.process);
    let each = |name, bytes: u64| Measurement::bytes(name, bytes / turns.max(1)).at_most(SEGMENT as f64);
    let (sent, received) =
        (each("bytes_sent_per_turn", exchange.sent), each("bytes_received_per_turn", exchange.received));
    let span = exchange.span.get().filter(|ns| *ns > 0);
    let rate = span.map(|ns| Measurement::per_second("turns_per_second", turns as f64 * 1e9 / ns as f64));
    let rate_text = rate.as_ref().map_or(String::new(), |rate| format!(", {rate} per second"));
    let part =
        share.value.map_or(String::new(), |value| format!(": {} of {}", words::percent(value), share.of));
    let each_request =
        per_request.as_ref().map(|of| Measurement::number("turns_per_request", of.each).at_least(MANY));
    let often = match &each_request {
        Some(each) => format!("{each} times a request"),
        None => format!("{} times{rate_text}", words::count(turns)),
    };
    let title = format!(
        "{who} asks {} {often}, for {received} each, and waits for each answer{part}",
        exchange.name,
    );
    let (spent, trips) = match &per_request {
        Some(of) => (of.ns, of.trips),
        None => (exchange.turns.total_ns, turns),
    };
    // Ten to a turn are what the smallest of batches takes.
    let saved = spent / 10 * 9;
    let most = match &per_request {
        Some(of) if of.is_quick => Severity::Notice,
        // Who asks is told by sizes alone where the connection has no name.
        _ if !exchange.is_named => Severity::Warning,
        _ => Severity::Critical,
    };
    let median = exchange.turns.percentile(0.5);
    let of_time = share.figure().at_least(guards::WARNING_SHARE);
    let protocol = match exchange.is_named {
        true => asked::unknown_protocol(facts, &exchange.name),
        false => exchange.protocol.clone(),
    };
    let subject = Subject {
        peer: Some(exchange.name.clone()),
        protocol: protocol.clone(),
        ..Subjects::thread(facts, exchange.tid.unwrap_or_default())
    };
    let mut found = out
        .report(share, title)
        .at_most(most)
        .measured(Measurement::count("turns", turns).at_least(guards::few_calls(facts) as f64))
        .measured_all(per_request.is_some().then(|| Measurement::count("turns_in_requests", trips)))
        .measured_all(each_request)
        .measured_all(rate)
        .measured(Measurement::time("p50", median).at_most(asked::slow_turn(facts, &exchange.name).or_zero() as f64))
        .measured(Measurement::time("time", exchange.turns.total()))
        .measured(of_time)
        .subject(subject)
        .cause(format!(
            "{} one behind the other: {sent} to {} and {received} back in the mean, p50 {} each, {} in all. \
             Each turn costs both sides calls, a wake-up and the way there and back, whatever is in it.{}",
            words::plural(turns, "turn"),
            exchange.name,
            words::duration(median),
            words::duration(exchange.turns.total()),
            asked::by_direction(&protocol),
        ))
        .measured(sent)
        .measured(received)
        .fix("ask for more at once: larger ranges, a list of keys, a batch of rows")
        .fix("where the next question does not need the answer: send without waiting (pipelining), or over several connections at once")
        .fix("keep what is asked for again; read ahead, as a file's buffer does")
        .saving(Nanos::new(saved))
        .evidence(exchange.line);
    found = match exchange.is_named {
        true => found.verify(format!("whyslow peers FILE; ss -tnpi dst {}   (segs_out and data_segs_out grow, bytes_sent hardly)", exchange.name)),
        false => found
            .fix("the capture does not name it: lsof -nP -p PID > trace.lsof, then whyslow diagnose trace.st trace.lsof")
            .verify("whyslow requests FILE   (fewer of them, with more in each)"),
    };
    found.from_together(guards::WARNING_SHARE).file();
}
