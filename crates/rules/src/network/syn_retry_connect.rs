//! # syn-retry-connect
//!
//! ## What it is
//! Connects take a second, three or seven: the first SYN got no answer, and the kernel sent it again.
//!
//! ## Why it is slow
//! The kernel waits 1 s for the answer to the first SYN (RFC 6298), then 2 s and 4 s (or 1 s each: `tcp_syn_linear_timeouts`). Who connects
//! waits as long, though the server may be idle by then.
//!
//! ## Example
//! ```text
//! connect(5, {sa_family=AF_INET, sin_port=htons(8080), sin_addr=inet_addr("10.0.0.7")}, 16) = 0 <1.020000>
//! ```
//!
//! ## What to do instead
//! Find who drops it: a full queue of connections at the server (`nstat TcpExtListenOverflows`, Recv-Q of `ss -ltn`), a firewall or
//! full table of connections between (`conntrack -S`), a route or host that is down. Keep connections open, so that few are made; give connects
//! a limit of their own below a second, and try another address then.
//!
//! ## When it is wrong
//! A far host answers within a third of a second, and a server that is busy answers all the same, because its kernel does: both are quiet. A
//! program that looks at its connections late sees them late: times that are no whole seconds are not counted. Of a connect that had begun
//! before the capture the end alone is seen: it counts where no network is between the ends, and a quarter of a second was seen of it.

use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::{guards, words};
use whyslow_facts::{Facts, PeerFacts};
use whyslow_model::{Measurement, Nanos, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "syn-retry-connect",
    group: "network",
    summary: "connects wait until a lost SYN is sent again",
    source: include_str!("syn_retry_connect.rs"),
    needs: &[Need::Durations, Need::AnyOf(&["connect"])],
    check,
};

/// Of the connects that take a second and more, those that ended at a whole second, or in nothing: of a program that is late all times are alike,
/// and a quarter of them would.
const RETRIED_SHARE: f64 = 0.8;
/// Connects that were made so; those in vain alone are `connect-failing`, or a host that is not there.
const MIN_MADE: u64 = 1;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let mut peers: Vec<&PeerFacts> = facts.peers.servers().filter(|peer| is_retried(peer)).collect();
    peers.sort_by_key(|peer| std::cmp::Reverse(time(peer)));
    for peer in peers {
        report(facts, out, peer);
    }
}

#[gated]
fn is_retried(peer: &PeerFacts) -> bool {
    let retries = &peer.syn_retries;
    let late = retries.made + retries.in_vain;
    retries.made + retries.found >= MIN_MADE
        && late as f64 >= RETRIED_SHARE * (late + retries.otherwise) as f64
}

/// Time in all of them, ns.
fn time(peer: &PeerFacts) -> u64 {
    peer.syn_retries.ns.saturating_add(peer.syn_retries.found_ns)
}

#[gated]
fn report(facts: &Facts, out: &mut Findings<'_>, peer: &PeerFacts) {
    let retries = &peer.syn_retries;
    let found = retries.found;
    let time = Nanos::new(time(peer));
    let timed = retries.made + retries.in_vain;
    let late = timed + found;
    let share = guards::share_of_ns(facts, peer.only_thread(), time, late);
    let count = Measurement::count("late_connects", late);
    let made = Measurement::count("made_late", retries.made + found).at_least(MIN_MADE as f64);
    let all = Measurement::count("connects", peer.connects.count + peer.abandoned.count + found);
    let before = match found {
        0 => String::new(),
        count => format!(
            " {} had begun before the capture: no network is between, and what was seen of them is longer than such a connect takes whose first SYN is answered.",
            words::plural(count, "connect")
        ),
    };
    let longest = Measurement::time("longest", Nanos::new(retries.longest_ns));
    let took = Measurement::time("time", time);
    // Of those found under way nobody knows at which second they ended.
    let part = timed as f64 / (timed + retries.otherwise).max(1) as f64;
    let whole =
        (timed > 0).then(|| Measurement::share("share_at_whole_seconds", part).at_least(RETRIED_SHARE));
    let ends = match timed {
        0 => "",
        _ => {
            "They end at a whole second after they began, which is when the kernel sends a SYN again that was not answered: the first one was dropped."
        }
    };
    let quick =
        (peer.connects.count > retries.made).then(|| Measurement::time("p50", peer.connects.percentile(0.5)));
    let others = quick
        .as_ref()
        .map_or(String::new(), |median| format!(" Half of all connects took {median} at most."));
    let sent_again =
        facts.net.peers().into_iter().find(|(name, _)| **name == *peer.name).map(|(_, net)| net.retransmits);
    let sent_again =
        sent_again.filter(|count| *count > 0).map(|count| Measurement::count("segments_sent_again", count));
    let vain = match retries.in_vain {
        0 => String::new(),
        count => format!(" {} came to nothing.", words::plural(count, "connect")),
    };
    let port = peer.port().map_or("PORT".to_string(), |port| port.to_string());
    out.report(
        share,
        format!("{}: {count} of {all} connects wait for a SYN to be sent again: {took} in all, the longest {longest}", peer.name),
    )
    .subject(Subject {
        peer: Some(peer.name.to_string()),
        syscall: Some("connect".to_string()),
        ..Subjects::thread(facts, peer.tid)
    })
    .cause(format!("{ends}{others}{vain}{before}").trim_start())
    .measured(count)
    .measured(made)
    .measured(all)
    .measured(took)
    .measured(longest)
    .measured_all(whole)
    .measured_all(quick)
    .measured_all(sent_again)
    .fix(format!("look at the server's queue of connections: ss -ltn 'sport = :{port}' (Recv-Q at Send-Q), nstat -az TcpExtListenOverflows TcpExtListenDrops; if it is full, a longer backlog (listen(fd, 4096), net.core.somaxconn) and accept sooner"))
    .fix("look for who drops between: nft list ruleset, iptables -L -v -n (DROP counters), conntrack -S (insert_failed, drop), limits of a load balancer or a cloud's security group")
    .fix("keep connections open, so that few are made; and give connects a limit below 1 s with another try, to another address where there are several")
    .verify(format!("tcpdump -ni any 'tcp[tcpflags] & tcp-syn != 0 and port {port}'   (each SYN once);  nstat -az TcpExtTCPSynRetrans"))
    .saving(time)
    .evidence_all(retries.lines.iter())
    .file();
}
