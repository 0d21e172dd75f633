//! # ephemeral-port-exhaustion
//!
//! ## What it is
//! No local port is left for another connection to the same server: connect fails with EADDRNOTAVAIL, or soon will.
//!
//! ## Why it is slow
//! A port that was closed is kept for a minute (TIME_WAIT). With 28,000 of them, 470 new connections a second to one address
//! are all there can be; before that the kernel looks longer and longer for a free one.
//!
//! ## Example
//! ```text
//! connect(7, {sa_family=AF_INET, sin_port=htons(6379), …}, 16) = -1 EADDRNOTAVAIL (Cannot assign requested address)
//! ```
//!
//! ## What to do instead
//! Keep connections and use them again. Then a wider range (`net.ipv4.ip_local_port_range`), `tcp_tw_reuse`, more addresses.
//!
//! ## When it is wrong
//! A bind to an address that the host does not have fails with the same error, and is another matter: only connect
//! counts. Ports are counted for each peer: many in use to many peers are no shortage.

use crate::engine::{Findings, Need, Report, Rule, Subjects};
use crate::gate::gated;
use crate::guards::{self, Share};
use crate::{figures, words};
use whyslow_facts::{Facts, PeerFacts};
use whyslow_model::{Entity, Errno, Measurement, Metric, Severity, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "ephemeral-port-exhaustion",
    group: "network",
    summary: "no local port is left for another connection to a server",
    source: include_str!("ephemeral_port_exhaustion.rs"),
    needs: &[Need::Either(&[
        Need::AnyOf(&["connect"]),
        figures::network(&[Metric::EphemeralPorts, Metric::EphemeralPortsUsed]),
    ])],
    check,
};

/// Part of the range in use to one peer: from here on the search for a free one takes long, and a burst uses up the rest.
const NEARLY: f64 = 0.80;
/// From here on the next burst fails.
const NO_ROOM: f64 = 0.95;
/// From this many refusals on it is no single try.
const MANY: u64 = 3;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let refused = |peer: &PeerFacts| -> u64 {
        let of = peer.failures.iter().filter(|(errno, _)| *errno == Errno::EADDRNOTAVAIL);
        of.map(|(_, count)| count).sum()
    };
    let mut failing: Vec<_> =
        facts.peers.servers().map(|peer| (refused(peer), peer)).filter(|(count, _)| *count > 0).collect();
    failing.sort_by_key(|(count, peer)| (std::cmp::Reverse(*count), peer.name.clone()));
    for (count, peer) in failing {
        let severity = if count >= MANY { Severity::Critical } else { Severity::Notice };
        advised(out.report(Share::unknown(), format!("{}: {} for lack of a local port (EADDRNOTAVAIL)", peer.name, words::plural(count, "refused connect")))
            .at_least(severity)
            .measured(guards::passed(Measurement::count("refused_connects", count), MANY as f64))
            .measured(Measurement::count("connections", peer.opened))
            .subject(Subject { peer: Some(peer.name.to_string()), errno: Some(Errno::EADDRNOTAVAIL), ..Subjects::thread(facts, peer.tid) })
            .cause(format!("All local ports are in use for this server, most of them by connections that were closed within the last minute: {} were opened in the capture.", words::count(peer.opened)))
            .evidence_all(peer.failed_lines.iter()))
        .file();
    }
    for (used, of) in full(facts) {
        let wait = facts.host.host().and_then(|host| host.current(Metric::TcpTimeWait));
        let wait = wait.map(|count| Measurement::number("connections_in_time_wait", count));
        let waiting = wait
            .as_ref()
            .map_or(String::new(), |count| format!(" {count} connections of the host are in TIME_WAIT."));
        let (least, threshold) =
            if used >= NO_ROOM { (Severity::Warning, NO_ROOM) } else { (Severity::Notice, NEARLY) };
        let used = Measurement::share("share_of_ports", used).at_least(threshold);
        advised(out.report(Share::unknown(), format!("{used} of the local ports are in use for connections to {of}"))
            .at_least(least)
            .measured(used)
            .measured_all(wait)
            .subject(figures::subject(facts, of))
            .cause(format!("When the rest is used up, connect fails with EADDRNOTAVAIL, and until then it takes longer and longer.{waiting}"))
            .evidence_of(of, &[Metric::EphemeralPortsUsed])
            .evidence_of(&Entity::Host, &[Metric::EphemeralPorts, Metric::TcpTimeWait]))
        .file();
    }
}

/// The peers, or the host where no source tells peers apart, to which most of the range is in use.
#[gated]
fn full(facts: &Facts) -> Vec<(f64, &Entity)> {
    let range = facts.host.host().and_then(|host| host.current(Metric::EphemeralPorts));
    let Some(range) = range.filter(|ports| *ports > 0.0) else { return Vec::new() };
    let peers = facts.host.things_that(|of| matches!(of, Entity::Peer(_)));
    let things = if peers.is_empty() { facts.host.things_that(|of| *of == Entity::Host) } else { peers };
    let used = things.into_iter().filter_map(|(of, thing)| {
        let used = thing.current(Metric::EphemeralPortsUsed)? / range;
        (used >= NEARLY).then_some((used.min(1.0), of))
    });
    let mut used: Vec<_> = used.collect();
    used.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    used
}

/// What helps, whoever tells.
fn advised<'f, 'a>(report: Report<'f, 'a>) -> Report<'f, 'a> {
    report
        .fix("keep connections and use them again: a pool, keep-alive (see connection-per-request)")
        .fix("sysctl -w net.ipv4.ip_local_port_range='1024 65000' net.ipv4.tcp_tw_reuse=1 (reuse for outgoing connections)")
        .fix("a proxy that binds its own address: IP_BIND_ADDRESS_NO_PORT; more addresses on either side multiply the ports")
        .verify("ss -tan state time-wait | awk '{print $4}' | sort | uniq -c | sort -rn | head; nstat -az TcpExtTWRecycled")
}
