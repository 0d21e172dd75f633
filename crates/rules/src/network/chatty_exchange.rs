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
//! the request (n-plus-one-queries), and so is one query that is asked again with other keys. Turns of more than a segment carry
//! something, and slow answers are the other side's matter (slow-downstream). Feeds, logs and replication are no questions: where
//! the direction does not change back for each, nothing is said. Of a connection that is older than the capture the sizes
//! tell who asks: a server that takes much and answers with a word looks the same, which is why such a finding is a warning at most.

use super::asked;
use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::guards::{self, Share};
use crate::words;
use whyslow_facts::folds::requests::{EndpointFacts, Side};
use whyslow_facts::{Exemplar, Facts, PeerFacts, ProcessId};
use whyslow_model::{CallStats, Measurement, Nanos, Severity, Subject, Tid, Timestamp};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "chatty-exchange",
    group: "network",
    summary: "a great many small questions to one server, each behind the answer to the one before",
    source: include_str!("chatty_exchange.rs"),
    needs: &[Need::Durations, Need::Clock, Need::Descriptors],
    check,
};

/// What fits into one segment of TCP: its payload in an Ethernet frame of 1,500 bytes (RFC 9293, 3.7.1).
const SEGMENT: u64 = 1_460;

/// Questions to one server, and its answers.
struct Exchange<'a> {
    process: Option<ProcessId>,
    /// The thread that asks, where it is one.
    tid: Option<Tid>,
    /// The server's address, or the descriptor that leads to it.
    name: String,
    is_named: bool,
    turns: CallStats,
    sent: u64,
    received: u64,
    span: Nanos,
    /// A turn, where nothing else shows them.
    line: Option<&'a Exemplar>,
    /// The mark of a protocol that is not known, of servers without a name.
    protocol: Option<String>,
}

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    if asked::serves(facts) {
        return;
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
        report(facts, out, &exchange, share);
    }
}

fn of_peer(peer: &PeerFacts) -> Exchange<'_> {
    Exchange {
        process: peer.process,
        tid: peer.only_thread(),
        name: peer.name.to_string(),
        is_named: true,
        turns: peer.answers.clone(),
        sent: peer.sent,
        received: peer.received,
        span: peer.span(),
        line: None,
        protocol: None,
    }
}

/// Servers on connections that are older than the capture, and that nothing names, as far as requests to them are recognised: by protocol, or by
/// the sizes of what went each way.
#[gated]
fn unnamed(facts: &Facts) -> Vec<Exchange<'_>> {
    let rows = facts.requests.endpoints().iter();
    let rows = rows.filter(|row| row.side == Side::Client && row.peer.is_none() && row.stats.count > 0);
    let mut all: Vec<(Exchange<'_>, (Timestamp, Timestamp), bool)> = Vec::new();
    for row in rows {
        let Some(one) = of_row(row) else { continue };
        let (span, is_query) = ((row.first, row.last), asked::reads_one(row));
        match all.iter_mut().find(|(known, ..)| known.process == one.process && known.name == one.name) {
            Some((known, of_all, of_queries)) => {
                known.turns.merge(&one.turns);
                known.sent = known.sent.saturating_add(one.sent);
                known.received = known.received.saturating_add(one.received);
                known.tid = known.tid.filter(|tid| one.tid == Some(*tid));
                *of_all = (of_all.0.min(span.0), of_all.1.max(span.1));
                known.span = of_all.1.since(of_all.0);
                *of_queries |= is_query;
            }
            None => all.push((one, span, is_query)),
        }
    }
    // A query that is asked again with other keys is judged as such.
    all.into_iter().filter(|(.., of_queries)| !of_queries).map(|(one, ..)| one).collect()
}

#[gated]
fn of_row(row: &EndpointFacts) -> Option<Exchange<'_>> {
    let first = row.kept().next()?;
    let one_fd = row.kept().all(|record| record.fd == first.fd);
    let behind = if one_fd { format!("fd {}", first.fd) } else { "several descriptors".to_string() };
    Some(Exchange {
        process: Some(first.process),
        tid: Some(first.tid).filter(|tid| row.kept().all(|record| record.tid == *tid)),
        name: format!("the server behind {behind}"),
        is_named: false,
        turns: row.stats.clone(),
        sent: row.request_bytes,
        received: row.stats.bytes,
        span: row.last.since(row.first),
        line: row.kept().max_by_key(|record| record.dur).map(|record| &record.first_line),
        protocol: asked::mark(row),
    })
}

/// One query, asked again with other keys: judged as such.
#[gated]
fn is_one_query(facts: &Facts, peer: &PeerFacts) -> bool {
    let mut rows = asked::endpoints(facts, &peer.name);
    rows.any(|row| asked::reads_one(row) && row.stats.count.saturating_mul(2) >= peer.answers.count)
}

/// Many turns, little in each, and quick.
#[gated]
fn is_chatty(facts: &Facts, exchange: &Exchange<'_>) -> bool {
    let turns = exchange.turns.count;
    let fits = |bytes: u64| bytes / turns.max(1) < SEGMENT;
    turns >= guards::few_calls(facts)
        && fits(exchange.sent)
        && fits(exchange.received)
        && exchange.turns.percentile(0.5) < asked::SLOW
}

#[gated]
fn report(facts: &Facts, out: &mut Findings<'_>, exchange: &Exchange<'_>, share: Share) {
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
    let title = format!(
        "{who} asks {} {} times{rate_text}, for {received} each, and waits for each answer{part}",
        exchange.name,
        words::count(turns),
    );
    // Ten to a turn are what the smallest of batches takes.
    let saved = exchange.turns.total_ns / 10 * 9;
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
        // Who asks is told by sizes alone where the connection has no name.
        .at_most(if exchange.is_named { Severity::Critical } else { Severity::Warning })
        .measured(Measurement::count("turns", turns).at_least(guards::few_calls(facts) as f64))
        .measured_all(rate)
        .measured(Measurement::time("p50", median).at_most(asked::SLOW.or_zero() as f64))
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
