//! # expect-100-continue
//!
//! ## What it is
//! A client sends the head of a request with `Expect: 100-continue`, and waits for the server to say that it may go on before it sends the
//! body. The server never says so, and the client goes on when its own limit has passed.
//!
//! ## Why it is slow
//! Each upload stands still for the whole limit: a second in curl and its bindings, whatever is set elsewhere. It looks like a slow
//! server, though that has the head at once and waits for the body.
//!
//! ## Example
//! ```text
//! sendto(7, "PUT /scans/3 HTTP/1.1\r\nExpect: 100-continue\r\n"..., 208, 0, NULL, 0) = 208 <0.000013>
//! poll([{fd=7, events=POLLIN}], 1, 1000) = 0 (Timeout) <1.001110>
//! sendto(7, "\377\330\377\340"..., 45154, 0, NULL, 0) = 45154 <0.000060>
//! ```
//!
//! ## What to do instead
//! Send no such header (curl: `-H 'Expect:'`; .NET: Expect100Continue = false; Apache HttpClient: setExpectContinueEnabled(false)), or a
//! server or proxy that answers it. Where a body is often refused, the header is worth its round trip.
//!
//! ## When it is wrong
//! Who sends what comes up now and then over one connection, and listens meanwhile, has pauses too: only HTTP counts, and only
//! where the wait was for this connection alone, its limit ended it, and nothing had come when more was sent.

use super::asked;
use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::guards;
use crate::words;
use whyslow_facts::{Facts, PeerFacts};
use whyslow_model::{Measurement, Nanos, Severity, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "expect-100-continue",
    group: "network",
    summary: "a client waits for leave to send the body of its request, until its own limit passes",
    source: include_str!("expect_100_continue.rs"),
    needs: &[
        Need::Durations,
        Need::AnyOf(&["poll", "ppoll", "select", "pselect6", "recvfrom", "read", "recvmsg"]),
    ],
    check,
};

/// Fewer are chance.
const MIN_PAUSES: u64 = 3;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let mut peers: Vec<&PeerFacts> = facts.peers.servers().filter(|peer| is_held_back(facts, peer)).collect();
    peers.sort_by_key(|peer| std::cmp::Reverse(peer.paused.waited_ns));
    for peer in peers {
        report(facts, out, peer);
    }
}

#[gated]
fn is_held_back(facts: &Facts, peer: &PeerFacts) -> bool {
    let is_http = |protocol: Option<&str>| protocol.is_some_and(|protocol| protocol.starts_with("HTTP/1"));
    let asks = || asked::endpoints(facts, &peer.name).any(|row| is_http(row.protocol) && row.stats.count > 0);
    peer.paused.count >= MIN_PAUSES && (is_http(peer.protocol) || asks())
}

fn report(facts: &Facts, out: &mut Findings<'_>, peer: &PeerFacts) {
    let paused = &peer.paused;
    let time = Nanos::new(paused.waited_ns);
    let share = guards::share_of_ns(facts, peer.only_thread(), time, paused.count);
    let count = Measurement::count("pauses", paused.count).at_least(MIN_PAUSES as f64);
    let each = Measurement::time("time_per_pause", Nanos::new(paused.waited_ns / paused.count.max(1)));
    let time = Measurement::time("time", time);
    let whom = facts.peer_words(&peer.name);
    out.report(
        share,
        format!(
            "{} to {whom} wait {each} each between their head and their body (Expect: 100-continue), {time} in all",
            words::plural(paused.count, "request"),
        ),
    )
    .at_most(Severity::Critical)
    .confidence(0.8)
    .subject(Subject {
        peer: Some(peer.name.to_string()),
        protocol: peer.protocol.map(str::to_string),
        ..Subjects::thread(facts, peer.tid)
    })
    .cause("The head is sent, nothing comes, and the client sends the body when its limit for that has passed: the server does not answer `Expect: 100-continue`.")
    .measured(count)
    .measured(each)
    .measured(time)
    .fix("client: no such header: curl -H 'Expect:', CURLOPT_HTTPHEADER, .NET Expect100Continue = false, Apache HttpClient setExpectContinueEnabled(false), Ruby continue_timeout = nil")
    .fix("server or proxy: answer it (100 Continue, or 417 at once)")
    .verify("strace -f -T -s 256 -e trace=sendto,write,poll -p PID   (no Timeout between two sends)")
    .saving(Nanos::new(paused.waited_ns))
    .evidence(paused.line.as_ref())
    .file();
}
