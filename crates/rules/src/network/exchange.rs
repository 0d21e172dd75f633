//! Questions to one server and its answers, and whether they are a great many small ones.

use super::asked;
use crate::gate::gated;
use crate::guards;
use whyslow_facts::folds::requests::{EndpointFacts, Side};
use whyslow_facts::{Exemplar, Facts, PeerFacts, ProcessId};
use whyslow_model::{CallStats, Nanos, Tid, Timestamp};

/// What fits into one segment of TCP: its payload in an Ethernet frame of 1,500 bytes (RFC 9293, 3.7.1).
pub(super) const SEGMENT: u64 = 1_460;

/// Questions to one server, and its answers.
pub(super) struct Exchange<'a> {
    pub(super) process: Option<ProcessId>,
    /// The thread that asks, where it is one.
    pub(super) tid: Option<Tid>,
    /// The server's address, or the descriptor that leads to it.
    pub(super) name: String,
    pub(super) is_named: bool,
    pub(super) turns: CallStats,
    pub(super) sent: u64,
    pub(super) received: u64,
    pub(super) span: Nanos,
    /// A turn, where nothing else shows them.
    pub(super) line: Option<&'a Exemplar>,
    /// The mark of a protocol that is not known, of servers without a name.
    pub(super) protocol: Option<String>,
}

/// All of one process with one server whose address is known.
pub(super) fn of_peer(peer: &PeerFacts) -> Exchange<'_> {
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
pub(super) fn unnamed(facts: &Facts) -> Vec<Exchange<'_>> {
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
pub(super) fn is_one_query(facts: &Facts, peer: &PeerFacts) -> bool {
    let mut rows = asked::endpoints(facts, &peer.name);
    rows.any(|row| asked::reads_one(row) && row.stats.count.saturating_mul(2) >= peer.answers.count)
}

/// Many turns, little in each, and quick.
#[gated]
pub(super) fn is_chatty(facts: &Facts, exchange: &Exchange<'_>) -> bool {
    let turns = exchange.turns.count;
    let fits = |bytes: u64| bytes / turns.max(1) < SEGMENT;
    turns >= guards::few_calls(facts)
        && fits(exchange.sent)
        && fits(exchange.received)
        && exchange.turns.percentile(0.5) < asked::slow_turn(facts, &exchange.name)
}
