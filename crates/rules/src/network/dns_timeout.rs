//! # dns-timeout
//!
//! ## What it is
//! The program asks a name server and gets no answer until a time limit passes; then it asks again, or another
//! server.
//!
//! ## Why it is slow
//! glibc waits 5 s for each server and tries twice (`options timeout: attempts:` in resolv.conf), and the whole
//! thread waits with it. A first server that is down costs 5 s for each name, also where the second one answers.
//! Lost answers of two queries sent at once (A and AAAA) from one port are a known fault of connection tracking.
//!
//! ## Example
//! ```text
//! sendto(3, "\275\31\1\0\0\1\0\0\0\0\0\0\7example\3com\0\0\1\0\1", 29, MSG_NOSIGNAL, NULL, 0) = 29
//! poll([{fd=3, events=POLLIN}], 1, 5000)  = 0 (Timeout) <5.005109>
//! ```
//!
//! ## What to do instead
//! Correct or remove the server that does not answer. Set short limits (`options timeout:1 attempts:2 rotate`). Where
//! pairs of answers get lost: `options single-request-reopen`. Run a cache on the host, and resolve names once.
//!
//! ## When it is wrong
//! An answer that the name does not exist (NXDOMAIN) is an answer and stays quiet. A single packet lost in a long
//! capture is a notice. Where calls are only counted, a server that answers half of three queries and more is not reported, and one that answers
//! fewer is a warning at most: how long was waited is known of all limits together.

use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::{guards, words};
use whyslow_facts::folds::account::{CallTime, ObjectKind};
use whyslow_facts::folds::peers::DNS_PORT;
use whyslow_facts::folds::peers::{CountedPeer, Role, host_of, port_of};
use whyslow_facts::{Facts, PeerFacts, ProcessId};
use whyslow_model::syscall::Class;
use whyslow_model::{FdKind, Measurement, Nanos, SaturatingSum, Severity, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "dns-timeout",
    group: "network",
    summary: "name servers do not answer in time",
    source: include_str!("dns_timeout.rs"),
    needs: &[Need::Class(Class::Network)],
    check,
};

/// Where queries are only counted: fewer without an answer may have one that is under way as the recording ends.
const FEWEST: u64 = 3;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let mut servers: Vec<&PeerFacts> = facts
        .peers
        .servers()
        .filter(|peer| peer.port() == Some(DNS_PORT) && peer.unanswered.count > 0)
        .collect();
    servers.sort_by_key(|peer| std::cmp::Reverse((peer.unanswered.waited_ns, peer.unanswered.count)));
    let none = servers.is_empty();
    for server in servers {
        report(facts, out, server);
    }
    if none && facts.mostly_counted() {
        counted(facts, out);
    }
}

/// Name servers of which calls were only counted: how often they were asked, and how often something came.
#[gated]
fn counted(facts: &Facts, out: &mut Findings<'_>) {
    let is_asked = |peer: &&CountedPeer| {
        peer.role == Role::Server && peer.kind == FdKind::Udp && port_of(&peer.name) == Some(DNS_PORT)
    };
    let servers: Vec<&CountedPeer> = facts.peers.counted.iter().filter(is_asked).collect();
    let silent = servers.iter().filter(|peer| {
        let asked = peer.used.writes.succeeded();
        asked >= FEWEST && peer.used.reads.succeeded().saturating_mul(2) <= asked
    });
    for server in silent {
        let (asked, answered) = (server.used.writes.succeeded(), server.used.reads.succeeded());
        let host = host_of(&server.name);
        let limits = limits_ns(facts, server.process);
        let waited = if limits > 0 { Nanos::new(limits) } else { Nanos::UNKNOWN };
        let share = guards::share_of_ns(facts, None, waited, asked);
        let other =
            servers.iter().find(|other| other.name != server.name && other.used.reads.succeeded() > 0);
        let second = other.map_or(String::new(), |other| format!(" {} answers.", host_of(&other.name)));
        let lines = facts.peers.by_process().find(|peer| peer.name == server.name);
        out.report(
            share,
            format!(
                "{} of {} to {host} got no answer",
                words::count(asked.saturating_sub(answered)),
                words::plural(asked, "DNS query").replace("querys", "queries"),
            ),
        )
        .at_most(Severity::Warning)
        .measured(Measurement::count("unanswered_queries", asked.saturating_sub(answered)))
        .measured(Measurement::count("queries", asked).at_least(FEWEST as f64))
        .measured(Measurement::count("answers", answered).at_most(asked as f64 / 2.0))
        .measured(Measurement::time("time_in_waits_that_ended_by_their_limit", waited))
        .subject(Subject {
            peer: Some(server.name.to_string()),
            host: Some(host.to_string()),
            ..Subjects::thread(facts, server.tid)
        })
        .cause(format!(
            "Calls were only counted: {} were sent to the name server {host}, and {} came back. Whoever asks waits for its limit, and asks the next one.{second}",
            words::plural(asked, "datagram"),
            words::count(answered),
        ))
        .fix(format!("ask it by hand: dig @{} NAME +time=2 +tries=1", host.trim_matches(['[', ']'])))
        .fix("correct or remove the server in /etc/resolv.conf (systemd-resolved: DNS= in /etc/systemd/resolved.conf; Kubernetes: dnsConfig of the pod)")
        .fix("shorter limits: options timeout:1 attempts:2 rotate in /etc/resolv.conf; a cache on the host (systemd-resolved, dnsmasq, NodeLocal DNSCache)")
        .saving(waited)
        .evidence_all(lines.into_iter().flat_map(|peer| peer.connect_lines.iter()))
        .verify("whyslow peers -p PID -d 10s   (as many bytes received as are answers)")
        .file();
    }
}

/// What the threads of a process waited in calls that their time limit ended, ns.
fn limits_ns(facts: &Facts, process: ProcessId) -> u64 {
    let threads = facts.world.threads.iter().filter(|(_, thread)| thread.process == process);
    let accounts =
        threads.filter_map(|(id, thread)| facts.accounts.of(id).filter(|one| one.tid == thread.tid));
    let is_limit = |time: &&CallTime| {
        time.key.waits.is_some() && facts.accounts.objects.get(time.key.object).kind == ObjectKind::Timer
    };
    accounts.flat_map(|one| &one.calls).filter(is_limit).map(|time| time.parts.total()).saturating_sum()
}

fn report(facts: &Facts, out: &mut Findings<'_>, server: &PeerFacts) {
    let unanswered = &server.unanswered;
    let Some(longest) = &unanswered.longest else { return };
    let waited = if unanswered.waited_ns > 0 { Nanos::new(unanswered.waited_ns) } else { Nanos::UNKNOWN };
    let thread = Some(unanswered.tid).filter(|_| !unanswered.shared);
    let share = guards::share_of_ns(facts, thread, waited, unanswered.count);
    let host = host_of(&server.name);
    let asked = longest.asked.as_deref().unwrap_or("a name");
    let answered = server.answers.count;
    let works = match answered {
        0 => "It answered nothing in this capture: it is down, or unreachable from here.".to_string(),
        _ => format!(
            "It answered {} in a median of {}: answers get lost, or it is overloaded.",
            words::plural(answered, "other query").replace("querys", "queries"),
            server.answers.percentile(0.5)
        ),
    };
    let others: Vec<&str> = facts
        .peers
        .servers()
        .filter(|other| {
            other.port() == Some(DNS_PORT) && other.name != server.name && other.answers.count > 0
        })
        .map(|other| host_of(&other.name))
        .collect();
    let second = match others.first() {
        Some(other) => format!(" {other} answers."),
        None => String::new(),
    };
    let queries = if unanswered.count == 1 { "query" } else { "queries" };
    let median = (answered > 0).then(|| Measurement::time("p50", server.answers.percentile(0.5)));
    let mut found = out
        .report(share, format!("{} DNS {queries} to {host} got no answer: {} of waiting ({asked})", words::count(unanswered.count), words::duration(waited)))
        .measured(Measurement::count("unanswered_queries", unanswered.count))
        .measured(Measurement::time("time", waited))
        .measured(Measurement::time("longest", longest.waited))
        .measured(Measurement::count("answers", answered))
        .measured_all(median)
        .subject(Subject {
            peer: Some(server.name.to_string()),
            host: Some(host.to_string()),
            endpoint: longest.asked.clone(),
            fd: Some(longest.fd),
            ..Subjects::thread(facts, longest.tid)
        })
        .cause(format!("The name server {host} did not answer in time, and the thread waited {} for {asked} alone. {works}{second}", words::duration(longest.waited)))
        .fix(format!("ask it by hand: dig @{} {asked} +time=2 +tries=1", host.trim_matches(['[', ']'])))
        .fix("correct or remove the server in /etc/resolv.conf (systemd-resolved: DNS= in /etc/systemd/resolved.conf; Kubernetes: dnsConfig of the pod)");
    if answered > 0 {
        found =
            found.fix("where pairs of answers get lost: options single-request-reopen in /etc/resolv.conf");
    }
    found
        .fix("shorter limits: options timeout:1 attempts:2 rotate in /etc/resolv.conf; a cache on the host (systemd-resolved, dnsmasq, NodeLocal DNSCache)")
        .saving(waited)
        .evidence(longest.wait_line.as_ref())
        .evidence(Some(&longest.end_line))
        .verify(format!("time getent ahosts {asked}   (falls from seconds to milliseconds)"))
        .file();
}
