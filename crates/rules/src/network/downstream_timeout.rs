//! # downstream-timeout
//!
//! ## What it is
//! A program asks a server, waits until its own time limit passes, and closes the connection without an answer.
//!
//! ## Why it is slow
//! The whole limit is waited for nothing, and the request that needed the answer fails or is repeated. The server
//! may still do the work. All requests behind the same server wait in the same way.
//!
//! ## Example
//! ```text
//! sendto(671, "*2\r\n$5\r\nZCARD\r\n$15\r\nrelation:fans:7\r\n", 36, 0, NULL, 0) = 36 <0.000049>
//! poll([{fd=671, events=POLLIN|POLLERR}], 1, 2000) = 0 (Timeout) <2.002154>
//! sendto(671, "*1\r\n$4\r\nQUIT\r\n", 14, 0, NULL, 0) = 14 <0.000044>
//! close(671) = 0 <0.000031>
//! ```
//!
//! ## What to do instead
//! Find out what the server was doing at that time. Take a limit that fits its usual times (its 99.9th percentile
//! and some more), and decide what to do without the answer: an older value, a default, an error at once.
//!
//! ## When it is wrong
//! Connections on which no answer is expected (logs, metrics, events pushed by the server) also see waits end
//! without data: only where the connection is then closed without an answer does it count.

use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::{guards, words};
use whyslow_facts::folds::peers::DNS_PORT;
use whyslow_facts::{Facts, PeerFacts};
use whyslow_model::{Measurement, Nanos, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "downstream-timeout",
    group: "network",
    summary: "a server did not answer within the program's time limit",
    source: include_str!("downstream_timeout.rs"),
    needs: &[
        Need::Durations,
        Need::AnyOf(&["poll", "ppoll", "select", "pselect6", "recvfrom", "recv", "read", "recvmsg"]),
    ],
    check,
};

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let mut servers: Vec<&PeerFacts> = facts
        .peers
        .servers()
        .filter(|peer| peer.port() != Some(DNS_PORT) && peer.unanswered.count > 0)
        .collect();
    servers.sort_by_key(|peer| std::cmp::Reverse(peer.unanswered.waited_ns));
    for server in servers {
        report(facts, out, server);
    }
}

fn report(facts: &Facts, out: &mut Findings<'_>, server: &PeerFacts) {
    let unanswered = &server.unanswered;
    let Some(longest) = &unanswered.longest else { return };
    let waited = Nanos::new(unanswered.waited_ns);
    let thread = Some(unanswered.tid).filter(|_| !unanswered.shared);
    let share = guards::share_of_ns(facts, thread, waited, unanswered.count);
    let protocol = server.protocol.map_or(String::new(), |protocol| format!(" ({protocol})"));
    let asked = longest.asked.as_deref();
    let title = format!(
        "{}{protocol} did not answer{} within {}{}",
        server.name,
        asked.map_or(String::new(), |asked| format!(" {asked}")),
        words::duration(longest.waited),
        match unanswered.count {
            1 => String::new(),
            count =>
                format!(": {} requests given up, {} waited", words::count(count), words::duration(waited)),
        }
    );
    let others = match server.answers.count {
        0 => "No other request to it was answered in this capture".to_string(),
        count => format!(
            "It answered {} in the capture (median {}, longest {})",
            words::plural(count, "request"),
            server.answers.percentile(0.5),
            server.answers.max()
        ),
    };
    let look = match server.protocol {
        Some("Redis") => {
            let (host, port) = server.name.rsplit_once(':').unwrap_or((&server.name, "6379"));
            format!(
                "see what the server did then: redis-cli -h {host} -p {port} SLOWLOG GET 20; LATENCY DOCTOR; INFO persistence"
            )
        }
        _ => "see what the server did then: its log of slow requests, or a trace of it at the same time"
            .to_string(),
    };
    let answered = (server.answers.count > 0).then(|| {
        [
            Measurement::time("p50", server.answers.percentile(0.5)),
            Measurement::time("longest_answer", server.answers.max()),
        ]
    });
    let mut found = out
        .report(share, title)
        .measured(Measurement::time("longest", longest.waited))
        .measured(Measurement::count("unanswered_requests", unanswered.count))
        .measured(Measurement::time("time", waited))
        .measured(Measurement::count("answers", server.answers.count))
        .measured_all(answered.into_iter().flatten())
        .subject(Subject {
            peer: Some(server.name.to_string()),
            fd: Some(longest.fd),
            endpoint: longest.asked.clone(),
            ..Subjects::thread(facts, longest.tid)
        })
        .cause(format!(
            "Thread {} sent {} on fd {}, waited {} until its time limit passed, and closed the connection without an answer. {others}.",
            longest.tid,
            asked.unwrap_or("a request"),
            longest.fd,
            words::duration(longest.waited),
        ))
        .fix(look)
        .fix("set the limit from the server's usual times (the 99.9th percentile and some more), below the limit of the program's own clients")
        .fix("code: decide what to answer without it (an older value, a default, an error at once), and stop asking for a while after several failures (circuit breaker)")
        .saving(waited)
        .evidence(longest.wait_line.as_ref())
        .evidence(Some(&longest.end_line));
    if let Some(wait) = &longest.wait_line {
        let process = facts.world.threads.iter().find(|(_, known)| known.tid == longest.tid);
        let pid = process.and_then(|(_, known)| facts.world.threads.process(known.process).pid);
        found = found.link(whyslow_model::ChainLink {
            who: format!("{}{}", pid.map_or(String::new(), |pid| format!("{pid}/")), longest.tid),
            waits_for: format!(
                "{}{}",
                server.name,
                asked.map_or(String::new(), |asked| format!(" ({asked})"))
            ),
            ns: Nanos::new(wait.dur.or_zero()),
            evidence: facts.evidence(wait).source,
        });
    }
    found.verify("strace -f -T -e trace=poll,ppoll,select,recvfrom,close -p PID   (no more `(Timeout)` before a close)").file();
}
