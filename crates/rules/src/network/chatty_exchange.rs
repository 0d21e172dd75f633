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
//! something, and slow answers are the other side's matter (slow-downstream).

use super::asked;
use crate::engine::{Findings, Need, Rule};
use crate::guards::{self, Share};
use crate::words;
use whyslow_facts::{Facts, PeerFacts};
use whyslow_model::{Measurement, Nanos};

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
/// Findings at most.
const MOST: usize = 2;

fn check(facts: &Facts, out: &mut Findings<'_>) {
    if asked::serves(facts) {
        return;
    }
    let mut chatty: Vec<(&PeerFacts, Share)> = asked::servers(facts)
        .filter(|peer| is_chatty(facts, peer))
        .map(|peer| (peer, share(facts, peer)))
        .collect();
    chatty.retain(|(_, share)| share.value.is_some_and(|value| value >= guards::WARNING_SHARE));
    chatty.sort_by_key(|(peer, _)| std::cmp::Reverse(peer.answers.total_ns));
    for (peer, share) in chatty.into_iter().take(MOST) {
        report(facts, out, peer, share);
    }
}

fn share(facts: &Facts, peer: &PeerFacts) -> Share {
    asked::share(facts, peer.only_thread(), peer.answers.total_ns, peer.answers.count)
}

/// Many turns, little in each, and quick.
fn is_chatty(facts: &Facts, peer: &PeerFacts) -> bool {
    let turns = peer.answers.count;
    let fits = |bytes: u64| bytes / turns.max(1) < SEGMENT;
    let one_query = || {
        let mut rows = asked::endpoints(facts, &peer.name);
        rows.any(|row| asked::reads_one(row) && row.stats.count.saturating_mul(2) >= turns)
    };
    turns >= guards::FEW_CALLS
        && !asked::connects_each_time(peer)
        && fits(peer.sent)
        && fits(peer.received)
        && peer.answers.percentile(0.5) < asked::SLOW
        && !one_query()
}

fn report(facts: &Facts, out: &mut Findings<'_>, peer: &PeerFacts, share: Share) {
    let turns = peer.answers.count;
    let who = asked::asker(facts, peer.process);
    let each = |name, bytes: u64| Measurement::bytes(name, bytes / turns.max(1)).at_most(SEGMENT as f64);
    let (sent, received) =
        (each("bytes_sent_per_turn", peer.sent), each("bytes_received_per_turn", peer.received));
    let span = peer.span().get().filter(|ns| *ns > 0);
    let rate = span.map(|ns| Measurement::per_second("turns_per_second", turns as f64 * 1e9 / ns as f64));
    let rate_text = rate.as_ref().map_or(String::new(), |rate| format!(", {rate} per second"));
    let part =
        share.value.map_or(String::new(), |value| format!(": {} of {}", words::percent(value), share.of));
    let title = format!(
        "{who} asks {} {} times{rate_text}, for {received} each, and waits for each answer{part}",
        peer.name,
        words::count(turns),
    );
    // Ten to a turn are what the smallest of batches takes.
    let saved = peer.answers.total_ns / 10 * 9;
    let median = Measurement::time("p50", peer.answers.percentile(0.5)).at_most(asked::SLOW.or_zero() as f64);
    let of_time = share.figure().at_least(guards::WARNING_SHARE);
    out.report(share, title)
        .measured(Measurement::count("turns", turns).at_least(guards::FEW_CALLS as f64))
        .measured_all(rate)
        .measured(median)
        .measured(Measurement::time("time", peer.answers.total()))
        .measured(of_time)
        // The same could be a loop that must ask step by step.
        .confidence(0.8)
        .subject(asked::subject(facts, peer))
        .cause(format!(
            "{} one behind the other: {sent} to {} and {received} back in the mean, p50 {} each, {} in all. \
             Each turn costs both sides calls, a wake-up and the way there and back, whatever is in it.",
            words::plural(turns, "turn"),
            peer.name,
            words::duration(peer.answers.percentile(0.5)),
            words::duration(peer.answers.total()),
        ))
        .measured(sent)
        .measured(received)
        .fix("ask for more at once: larger ranges, a list of keys, a batch of rows")
        .fix("where the next question does not need the answer: send without waiting (pipelining), or over several connections at once")
        .fix("keep what is asked for again; read ahead, as a file's buffer does")
        .saving(Nanos::new(saved))
        .verify(format!("whyslow peers FILE; ss -tnpi dst {}   (segs_out and data_segs_out grow, bytes_sent hardly)", peer.name))
        .file();
}
