//! # slow-downstream
//!
//! ## What it is
//! A program asks another server, for a request that it serves or for an item that it works on, and the answer takes a large
//! part of that time.
//!
//! ## Why it is slow
//! The thread can do nothing but wait. Everyone who waits for this program waits for the other server too, and a pool of
//! threads that all wait for it serves nobody else.
//!
//! ## Example
//! ```text
//! sendto(669, "*4\r\n$5\r\nHMGET\r\n$27\r\nrelation:series:1234:check\r\n"..., 89, 0, NULL, 0) = 89 <0.000051>
//! poll([{fd=669, events=POLLIN|POLLERR}], 1, 2000) = 1 ([{fd=669, revents=POLLIN}]) <1.779099>
//! recvfrom(669, "*2\r\n$13\r\n1543887112345\r\n"..., 8192, 0, NULL, NULL) = 44 <0.000048>
//! ```
//!
//! ## What to do instead
//! Find out what the other server does in that time: its log of slow requests, its load, a trace of it. Ask for less, or
//! ask for several things at once. Give the wait a limit, and an answer for the case that it passes.
//!
//! ## When it is wrong
//! Answers that are slow on purpose: long polling and blocking reads of a queue. Only answers of 5 ms and more count, and where
//! requests are served only what is asked meanwhile. Where nine of ten requests are served within a tenth of a second all the same, it is a
//! notice. Where 99 of 100 answers are quicker it is a notice: a server's first
//! answers are slow. Of a program of which no request is seen nobody knows whether it has anything else to do than to wait:
//! then it is a warning at most, a notice where answers within a tenth of a second take less than half of its time, and
//! nothing where the median is half a second and more, as that of news is, or where the same server answers other questions
//! at once. A server on a connection that is older than the capture has no address: whether two of them are one is not
//! known, and where another one answers at once, it is a notice. So are one or two slow answers among quick ones, and news
//! that a proxy hands on. An answer that was there while the program slept or worked took no longer than it was waited for. What comes at even
//! distances, whatever the program did in between, has its own pace (a feed, a queue, the limit of a rate), and is a notice: 48 answers tell.

use super::asked::{LATE, SLOW, by_direction, mark};
use super::slow_peers;
use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::guards::{Share, WARNING_SHARE};
use crate::words;
use whyslow_facts::Facts;
use whyslow_facts::folds::requests::{Downstream, EndpointFacts, EndpointId, LOGGED, RequestRecord, Side};
use whyslow_model::{ChainLink, Measurement, Nanos, Severity, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "slow-downstream",
    group: "network",
    summary: "requests wait for the slow answers of another server",
    source: include_str!("slow_downstream.rs"),
    needs: &[Need::Answers],
    check,
};

/// A downstream endpoint, and what its slow answers cost the requests that waited for them.
struct Blame {
    endpoint: EndpointId,
    ns: u64,
    /// The endpoint whose requests lose the most time by it, its time in all, and the part.
    served: (EndpointId, u64, u64),
}

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let mut blames: Vec<Blame> = Vec::new();
    let mut all_ns = 0u64;
    for (at, row) in facts.requests.endpoints().iter().enumerate().filter(|(_, row)| row.side == Side::Server)
    {
        all_ns = all_ns.saturating_add(row.stats.total_ns);
        for part in &row.downstream {
            let ns = slow_part(facts, part);
            let served = (EndpointId(at as u32), row.stats.total_ns, ns);
            match blames.iter_mut().find(|blame| blame.endpoint == part.endpoint) {
                Some(blame) => {
                    blame.ns = blame.ns.saturating_add(ns);
                    if ns > blame.served.2 {
                        blame.served = served;
                    }
                }
                None => blames.push(Blame { endpoint: part.endpoint, ns, served }),
            }
        }
    }
    blames.retain(|blame| blame.ns > 0);
    blames.sort_by_key(|blame| std::cmp::Reverse(blame.ns));
    for blame in blames.iter() {
        report(facts, out, blame, all_ns);
    }
    if all_ns == 0 {
        slow_peers::report(facts, out);
    }
}

/// The time of `part` that slow answers took, ns.
#[gated]
fn slow_part(facts: &Facts, part: &Downstream) -> u64 {
    let Some(asked) = facts.requests.endpoint(part.endpoint) else { return 0 };
    let durations = asked.stats.histogram.durations();
    let sum = |from: Nanos| {
        let times = durations.iter().filter(|(dur, _)| *dur >= from);
        times.fold(0u64, |sum, (dur, count)| {
            sum.saturating_add(dur.or_zero().saturating_mul(u64::from(*count)))
        })
    };
    let all = sum(Nanos::ZERO);
    // Which of its answers were asked for by whom is not kept: the slow ones are shared out by time.
    if all == 0 { 0 } else { (u128::from(part.ns) * u128::from(sum(SLOW)) / u128::from(all)) as u64 }
}

#[gated]
fn report(facts: &Facts, out: &mut Findings<'_>, blame: &Blame, all_ns: u64) {
    let (Some(asked), Some(served)) =
        (facts.requests.endpoint(blame.endpoint), facts.requests.endpoint(blame.served.0))
    else {
        return;
    };
    let value = (all_ns > 0).then(|| (blame.ns as f64 / all_ns as f64).min(1.0));
    let share = Share::of_time(value, "time of all requests served");
    let part = (blame.served.2 as f64 / blame.served.1.max(1) as f64).min(1.0);
    let part = Measurement::share("share_of_endpoint", part);
    let of_time = share.figure().at_least(WARNING_SHARE);
    let times = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99)];
    let times = times.map(|(name, part)| Measurement::time(name, asked.stats.percentile(part)));
    let slowest = asked.kept().max_by_key(|record| record.dur);
    let title = format!(
        "{} takes {part} of the time of {}: p50 {}, max {}",
        named(facts, asked),
        served_words(served),
        words::duration(asked.stats.percentile(0.5)),
        words::duration(asked.stats.max()),
    );
    let mut found = out
        .report(share, title)
        .measured(of_time)
        .measured(part)
        .measured(Measurement::count("answers", asked.stats.count))
        .measured(Measurement::count("slow_answers", slow_answers(asked)))
        .measured(Measurement::time("longest", asked.stats.max()))
        .measured_all(times)
        .subject(Subject {
            peer: asked.peer.as_deref().map(str::to_string),
            fd: slowest.map(|record| record.fd).filter(|fd| *fd >= 0),
            endpoint: Some(asked.name.to_string()),
            protocol: mark(asked),
            ..Subjects::thread(facts, slowest.map_or(0, |record| record.tid))
        })
        .cause(format!(
            "While {} was served, {} was asked {} and answered in {} (99 %: {}). The requests wait for it.{}",
            if is_unknown(served) { "a request" } else { &served.name },
            if is_unknown(asked) { peer_of(asked) } else { &asked.name },
            words::plural(asked.stats.count, "time"),
            words::duration(asked.stats.percentile(0.5)),
            words::duration(asked.stats.percentile(0.99)),
            by_direction(&mark(asked)),
        ))
        .fix(look_at(asked))
        .fix("ask for less, or for several things in one request; keep what seldom changes")
        .fix("set a timeout shorter than your callers' timeout, with a fallback")
        .saving(Nanos::new(blame.ns));
    // Of a hundred answers one is slow at most, or of ten one is a little late: a start, or a stall that few saw. Worth a look,
    // no more.
    if asked.stats.percentile(0.99) < LATE && asked.stats.percentile(0.9) < SLOW {
        found = found.at_most(Severity::Notice);
    }
    // Nobody who waits for a page feels it.
    if served.stats.percentile(0.9) < LATE {
        found = found.at_most(Severity::Notice);
    }
    if is_stall(asked) || may_be_news(facts, asked, served) {
        found = found.at_most(Severity::Notice);
    }
    // What the program did with each answer counts as waiting for it.
    if facts.capture.bounds_answers() {
        found = found.at_most(Severity::Notice);
    }
    // Nobody is kept waiting for seconds.
    if served.stats.max() < Nanos::from_secs(1) {
        found = found.at_most(Severity::Warning);
    }
    if let Some(record) = slowest {
        found = found.evidence(Some(&record.first_line)).evidence(record.last_line.as_ref());
        found = found.link(link(facts, asked, record));
    }
    let sought = if asked.protocol == Some(LOGGED) { &*served.name } else { &*asked.name };
    let command = match is_unknown(asked) {
        true => format!("whyslow requests --match '{}' --slowest 10 FILE", peer_of(asked)),
        false => format!("whyslow requests --match '{sought}' --slowest 10 FILE"),
    };
    // A small part of the requests' time makes nobody slow, however late each answer is; that of all who are asked the same is no small one.
    found.verify(command).from_together(WARNING_SHARE).file();
}

/// Answers of [`SLOW`] and more.
#[gated]
fn slow_answers(asked: &EndpointFacts) -> u64 {
    let times = asked.stats.histogram.durations();
    times.iter().filter(|(dur, _)| *dur >= SLOW).map(|(_, count)| u64::from(*count)).sum()
}

/// A slow answer or two among quick ones, none of seconds: whatever the server or its host did then.
#[gated]
fn is_stall(asked: &EndpointFacts) -> bool {
    /// Slow answers from which on they are no chance.
    const SEVERAL: u64 = 3;
    let slow = slow_answers(asked);
    slow < SEVERAL && slow < asked.stats.timed && asked.stats.max() < Nanos::from_secs(1)
}

/// True where a proxy hands on what clients wait for long, while all else is answered at once: that is how news are waited for.
#[gated]
fn may_be_news(facts: &Facts, asked: &EndpointFacts, served: &EndpointFacts) -> bool {
    let others =
        || facts.requests.endpoints().iter().filter(|row| row.side == Side::Client && row.name != asked.name);
    let quick = others().any(|row| row.stats.timed > 0 && row.stats.percentile(0.5) < SLOW);
    !is_unknown(asked)
        && asked.name == served.name
        && asked.stats.percentile(0.5) >= slow_peers::NEWS
        && quick
}

fn is_unknown(asked: &EndpointFacts) -> bool {
    asked.is_hidden()
}

/// What is served; where its protocol is not known, the requests as such.
fn served_words(served: &EndpointFacts) -> &str {
    if is_unknown(served) { "the requests" } else { &served.name }
}

fn peer_of(asked: &EndpointFacts) -> &str {
    asked.peer.as_deref().unwrap_or("an unknown server")
}

/// `HMGET relation:{…} at 10.0.0.7:6379`, or the server alone where what is asked is not seen.
fn named(facts: &Facts, asked: &EndpointFacts) -> String {
    let peer = facts.peer_words(peer_of(asked));
    if is_unknown(asked) { peer.into_owned() } else { format!("{} at {peer}", asked.name) }
}

fn link(facts: &Facts, asked: &EndpointFacts, record: &RequestRecord) -> ChainLink {
    let pid = facts.world.threads.known_process(record.process).and_then(|process| process.pid);
    let what = if record.detail.is_empty() { &*asked.name } else { &record.detail };
    let thread = format!("{}{}", pid.map_or(String::new(), |pid| format!("{pid}/")), record.tid);
    ChainLink {
        who: if asked.protocol == Some(LOGGED) { "the server of the log".to_string() } else { thread },
        waits_for: format!("{} ({what})", facts.peer_words(peer_of(asked))),
        ns: record.dur,
        evidence: facts.evidence(&record.first_line).source,
    }
}

fn look_at(asked: &EndpointFacts) -> String {
    let (host, port) =
        asked.peer.as_deref().and_then(|peer| peer.rsplit_once(':')).unwrap_or(("HOST", "PORT"));
    match asked.protocol {
        Some("Redis") => format!(
            "see what the server did then: redis-cli -h {host} -p {port} SLOWLOG GET 20; LATENCY DOCTOR; --bigkeys"
        ),
        Some("PostgreSQL") => format!(
            "see what the server did then: EXPLAIN (ANALYZE, BUFFERS) of the statement, log_min_duration_statement, pg_stat_activity on {host}:{port}"
        ),
        Some("MySQL") => format!(
            "see what the server did then: EXPLAIN ANALYZE of the statement, the slow query log, SHOW PROCESSLIST on {host}:{port}"
        ),
        _ => format!(
            "see what the server did then: its log of slow requests, or whyslow diagnose --port {port} on {host} at the same time"
        ),
    }
}
