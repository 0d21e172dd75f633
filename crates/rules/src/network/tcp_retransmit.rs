//! # tcp-retransmit
//!
//! ## What it is
//! Segments to one peer are sent again and again: the network loses them, or the peer is too slow to take them.
//!
//! ## Why it is slow
//! A lost segment is missed only after a while: after a round trip where others follow it, after 200 ms and more where
//! it was the last one. Meanwhile the request or answer stands still.
//!
//! ## Example
//! ```text
//! 10.0.0.2:6379: 231 segments sent again (1.9 for a hundred sends), round trip 0.21 ms
//! ```
//!
//! ## What to do instead
//! Find the loss: a bad cable or port, a full queue on the way, a too large MTU in a tunnel, a firewall that drops.
//! Until then keep connections open, and send answers in one piece.
//!
//! ## When it is wrong
//! A few probes of the tail (TLP) are normal. Below ten segments, or one for a hundred sends, nothing is said; where
//! no thread waits long for the network, it is a notice. Three are enough where a server that mostly answers at once takes
//! 200 ms and more for three answers at least, and mostly less than 400: that is the kernel's wait, and no server's work.
//! Some loss is how TCP finds the speed of a long, full line.

use super::retransmit_waits::{waited_for, waited_for_network};
use super::stalls::{FEW, Stalls};
use crate::engine::{Findings, Need, Rule, Subjects};
use crate::figures;
use crate::gate::gated;
use crate::guards::{self, Share};
use crate::words;
use whyslow_facts::Facts;
use whyslow_hostcheck::thresholds;
use whyslow_model::{Entity, Measurement, Metric, SaturatingSum, Severity, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "tcp-retransmit",
    group: "network",
    summary: "segments to a peer are sent again and again",
    source: include_str!("tcp_retransmit.rs"),
    needs: &[Need::Either(&[
        Need::Table("net"),
        figures::network(&[Metric::TcpRetransmits, Metric::TcpSegmentsOut]),
        Need::Growth(&[Metric::TcpRetransmits, Metric::TcpSegmentsOut]),
    ])],
    check,
};

/// Fewer are normal (RFC 8985: tail loss probes), where nothing shows what they cost.
const MIN_SEGMENTS: u64 = 10;
/// Segments sent again for one send of the program.
const PER_SEND: f64 = 0.01;
/// Segments sent again, of all segments of the host (PCP warns from 1 % on).
const PER_SEGMENT: f64 = 0.01;
/// Times a second that an acknowledgement was waited for in vain: each is 200 ms and more in which a connection stands still.
const TIMEOUTS_PER_S: f64 = 1.0;
/// Calls that send.
const SENDS: [&str; 6] = ["write", "writev", "sendto", "sendmsg", "sendmmsg", "sendfile"];

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let of_peers = by_peer(facts, out);
    let stalls = Stalls::longest(facts);
    // Single peers say more than the sum. What a peer sends again is seen in the sum alone.
    if !of_peers && (stalls.is_some() || facts.net.peers().iter().all(|(_, peer)| peer.retransmits == 0)) {
        of_host(facts, out, stalls);
    }
}

#[gated]
fn of_host(facts: &Facts, out: &mut Findings<'_>, stalls: Option<Stalls<'_>>) {
    let Some(host) = facts.host.host() else { return };
    let now = |metric| host.current(metric);
    let Some(part) = host.part(Metric::TcpRetransmits, Metric::TcpSegmentsOut) else { return };
    let times = host.happened(Metric::TcpRetransmits);
    // Another program's losses are no reason for these waits where hardly any segment is lost.
    let stalls = stalls.filter(|_| part >= thresholds::RETRANSMITS.value);
    let least = if stalls.is_some() { FEW } else { MIN_SEGMENTS };
    if times.is_some_and(|times| times < least as f64) || part < PER_SEGMENT {
        return;
    }
    let rate =
        now(Metric::TcpRetransmits).map(|rate| Measurement::per_second("retransmits_per_second", rate));
    let often = match (&rate, times) {
        (Some(rate), _) => format!("{rate} per second"),
        (None, times) => words::plural(times.unwrap_or(0.0) as u64, "segment"),
    };
    let times = times.map(|times| Measurement::count("retransmits", times as u64).at_least(least as f64));
    let timeouts = now(Metric::TcpTimeouts);
    let many = part >= thresholds::RETRANSMITS.value;
    let stands = many && timeouts.is_some_and(|rate| rate >= TIMEOUTS_PER_S);
    let from = if many { thresholds::RETRANSMITS.value } else { PER_SEGMENT };
    let part = Measurement::share("share_of_segments", part).at_least(from);
    let late =
        stalls.as_ref().map(|stalls| Measurement::count("late_answers", stalls.count).at_least(FEW as f64));
    let share = stalls.as_ref().map_or(Share::unknown(), |stalls| stalls.share(facts));
    let lost = format!("{part} of TCP segments are retransmitted ({often})");
    let title = match (&stalls, &late) {
        (Some(stalls), Some(late)) => {
            format!("{}: {late} answers wait for a retransmission timeout; {lost}", stalls.peer.name)
        }
        _ => lost,
    };
    let subject = stalls.as_ref().map_or(Subject::default(), |stalls| Subject {
        peer: Some(stalls.peer.name.to_string()),
        ..Subjects::thread(facts, stalls.peer.tid)
    });
    let waited = timeouts.map_or(String::new(), |rate| {
        format!(" {} times per second nothing was heard for 200 ms and more.", words::quantity(rate))
    });
    out.report(share, title)
        .measured(part)
        .measured_all(late)
        .measured_all(rate)
        .measured_all(times)
        .measured_all(timeouts.map(|rate| guards::passed(Measurement::per_second("timeouts_per_second", rate), TIMEOUTS_PER_S)))
        .at_least(if stands { Severity::Warning } else { Severity::Notice })
        .at_most(Severity::Warning)
        .subject(subject)
        .cause(format!("The network loses them, or a peer does not take them. What is lost is missed after a round trip at best.{waited}"))
        .fix("find the peer: ss -ti | grep -B1 retrans; bcc: tcpretrans; whyslow record tells them apart")
        .fix("then where it is lost: mtr -T PEER; ethtool -S of the interface (errors, drops); in tunnels the MTU: ping -M do -s 1472 PEER")
        .verify("nstat -az TcpRetransSegs TcpOutSegs TcpExtTCPTimeouts 1; sar -n ETCP 1 (retrans/s)")
        .evidence_of(&Entity::Host, &[Metric::TcpRetransmits, Metric::TcpSegmentsOut, Metric::TcpTimeouts])
        .file();
}

/// True where it told of one.
#[gated]
fn by_peer(facts: &Facts, out: &mut Findings<'_>) -> bool {
    let mut told = false;
    let sends = facts.calls_of(&SENDS);
    // Less than was sent again: most were not seen.
    let sends = if sends < facts.net.peers().iter().map(|(_, peer)| peer.retransmits).saturating_sum() {
        0
    } else {
        sends
    };
    for (name, peer) in facts.net.peers() {
        let rate = peer.retransmits as f64 / sends.max(1) as f64;
        let known = facts.peers.iter().find(|known| *known.name == *name);
        let stalls = known.and_then(Stalls::of);
        let least = if stalls.is_some() { FEW } else { MIN_SEGMENTS };
        if peer.retransmits < least || sends > 0 && rate < PER_SEND {
            continue;
        }
        told = true;
        let (share, waits) = match known {
            Some(known) => waited_for(facts, known, peer.retransmits, stalls.as_ref()),
            None => waited_for_network(facts),
        };
        let share_is = match known {
            Some(_) if stalls.is_some() => "the answers that waited for a retransmission timeout",
            Some(_) => "200 ms for each, and no more than the wait for this peer",
            None => "the wait for the network, of which this is a part",
        };
        let rate = Measurement::number("retransmits_per_100_sends", rate * 100.0).at_least(PER_SEND * 100.0);
        let rate = (sends > 0).then_some(rate);
        let per_send = rate.as_ref().map_or(String::new(), |rate| format!(" ({rate} for a hundred sends)"));
        let rtt = match peer.rtt() {
            rtt if rtt.is_known() => format!(", round trip {rtt}"),
            _ => String::new(),
        };
        let host = name.rsplit_once(':').map_or(name, |(host, _)| host).trim_matches(['[', ']']);
        let again = words::plural(peer.retransmits, "segment");
        let late = stalls.map(|stalls| Measurement::count("late_answers", stalls.count).at_least(FEW as f64));
        let held = late
            .as_ref()
            .map_or(String::new(), |late| format!("; {late} answers wait for a retransmission timeout"));
        out.report(share, format!("{name}: {again} sent again{per_send}{held}"))
            .at_most(if waits { Severity::Warning } else { Severity::Notice })
            .measured(Measurement::count("retransmits", peer.retransmits).at_least(least as f64))
            .measured_all(late)
            .measured_all(rate)
            .measured_all((sends > 0).then(|| Measurement::count("sends", sends)))
            .measured(Measurement::time("round_trip", peer.rtt()))
            .subject(Subject { peer: Some(name.to_string()), ..known.map_or(Subject::default(), |known| Subjects::thread(facts, known.tid)) })
            .cause(format!("What is lost on the way is sent again after a round trip at best{rtt}, and after 200 ms and more where nothing follows it. The share is {share_is}."))
            .fix(format!("find where it is lost: mtr -T {host}; ethtool -S of the interface (errors, drops), nstat -az TcpRetransSegs TcpExtTCPTimeouts"))
            .fix(format!("in tunnels and containers see whether large packets pass: ping -M do -s 1472 {host}; else lower the MTU"))
            .fix("keep connections open and send an answer in one piece: the last segment of a piece is the one whose loss costs most")
            .verify(format!("ss -ti dst {host} (retrans: does not grow); bcc: tcpretrans"))
            .evidence_line(
                facts.recording_at(peer.first_retransmit),
                format!("{name}: {again} sent again from {} to {}{rtt}", peer.first_retransmit.time_of_day(), peer.last_retransmit.time_of_day()),
            )
            .file();
    }
    told
}
