//! # connection-per-request
//!
//! ## What it is
//! A program opens a new connection to the same server for each request and closes it after the answer.
//!
//! ## Why it is slow
//! Each connection costs at least one round trip before the first byte, two or three with TLS, and often a log-in.
//! The side that closes first keeps the port in TIME_WAIT for a minute: at some 470 connections a second to one
//! address the 28,232 ports that Linux gives out by default are used up.
//!
//! ## Example
//! ```text
//! socket(AF_INET, SOCK_STREAM, IPPROTO_TCP) = 5
//! connect(5, {sa_family=AF_INET, sin_port=htons(8080), sin_addr=inet_addr("10.0.0.7")}, 16) = 0 <0.021000>
//! sendto(5, "GET /price/17 HTTP/1.1\r\nConnection: close\r\n"…) = 86
//! recvfrom(5, "HTTP/1.1 200 OK\r\n"…) = 312
//! close(5) = 0
//! ```
//!
//! ## What to do instead
//! Keep connections open and use them again: a session or pool in the client, keep-alive on both sides.
//!
//! ## When it is wrong
//! Where each connection has a few turns, all but the last count as its log-in, but with HTTP, which has none: what asks three things
//! on each connection costs less than is said. More than five turns (and up to twelve) count as one request where every connection has just as
//! many, as a letter in SMTP has; of these none counts as the log-in. Where calls were only counted, all writes of the program stand for its requests: there are no more.
//! A command that asks once and ends cannot keep anything: a few connections are quiet. Clients of sockets on the
//! same host (nscd, syslog) often work this way by protocol and cheaply: they stay a notice.

use super::asked::{self, MAX_REQUESTS};
use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::{guards, words};
use whyslow_facts::{Facts, PeerFacts};
use whyslow_model::syscall::Moves;
use whyslow_model::{FdKind, Measurement, Nanos, SaturatingSum, Severity, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "connection-per-request",
    group: "network",
    summary: "a new connection to the same server for each request",
    source: include_str!("connection_per_request.rs"),
    needs: &[Need::AnyOf(&["connect"])],
    check,
};

/// Fewer connections are no habit: a browser opens six to one host.
const MIN_CONNECTIONS: u64 = 20;
/// Turns of one thing that is done on a connection: a letter with TLS and a log-in has some ten (RFC 5321, RFC 4954).
const LONGEST_DIALOGUE: u64 = 12;
/// Of the connections opened, this part must have been closed again.
const CLOSED_SHARE: f64 = 0.8;
/// Calls for the making and ending of a connection: socket, connect, a setting, close.
const CALLS_EACH: u64 = 4;
/// Connections a second below which it is a slow poller's habit, not a cost.
const MIN_PER_S: f64 = 1.0;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let mut peers: Vec<&PeerFacts> = facts.peers.servers().filter(|peer| is_wasteful(facts, peer)).collect();
    peers.sort_by_key(|peer| {
        std::cmp::Reverse((peer.setup.total_ns.max(peer.connects.total_ns), peer.opened))
    });
    for peer in peers {
        report(facts, out, peer);
    }
}

#[gated]
fn is_wasteful(facts: &Facts, peer: &PeerFacts) -> bool {
    peer.kind != FdKind::Udp
        && peer.opened >= MIN_CONNECTIONS
        && peer.closed as f64 >= CLOSED_SHARE * peer.opened as f64
        && Each::of(facts, peer).is_some_and(|each| each.requests <= MAX_REQUESTS || is_dialogue(peer))
}

/// True where each connection has the same turns, and then ends: the protocol has that many for one thing (SMTP has six for a letter; each of
/// HTTP's is a request).
#[gated]
fn is_dialogue(peer: &PeerFacts) -> bool {
    !peer.protocol.is_some_and(|protocol| protocol.starts_with("HTTP"))
        && peer
            .requests_on_closed
            .is_some_and(|(least, most)| least == most && (1..=LONGEST_DIALOGUE).contains(&most))
}

/// Requests on each connection.
struct Each {
    requests: f64,
    /// They were only counted, as writes of the process: no more than these.
    is_most: bool,
}

impl Each {
    #[gated]
    fn of(facts: &Facts, peer: &PeerFacts) -> Option<Each> {
        if peer.requests_of_closed > 0 {
            let requests = peer.requests_of_closed as f64 / peer.closed.max(1) as f64;
            return Some(Each { requests, is_most: false });
        }
        // Nothing was seen to go over any of them: what was written to it is a bound, else what was written anywhere.
        let threads = &facts.world.threads;
        let asker = threads.thread_of(peer.tid).filter(|_| peer.requests == 0)?;
        let to_it = facts.peers.counted.of_server(asker.process, &peer.name);
        if let Some(to_it) = to_it.filter(|to_it| to_it.used.writes.calls > 0) {
            let requests = to_it.used.writes.succeeded() as f64 / peer.opened.max(1) as f64;
            return Some(Each { requests, is_most: true });
        }
        let own = threads.iter().map(|(_, thread)| thread).filter(|thread| thread.process == asker.process);
        let counted = own.filter_map(|thread| thread.counted.as_deref()).flat_map(|table| table.iter());
        let writes = counted.filter(|(call, _)| call.info().moves == Moves::Write);
        let writes = writes.map(|(_, calls)| calls.count).saturating_sum();
        let requests = writes as f64 / peer.opened.max(1) as f64;
        (requests >= 1.0).then_some(Each { requests, is_most: true })
    }
}

#[gated]
fn report(facts: &Facts, out: &mut Findings<'_>, peer: &PeerFacts) {
    // From connect to the first request holds the TLS handshake too.
    let setup = if peer.setup.timed > 0 { &peer.setup } else { &peer.connects };
    let Some(Each { requests: each, is_most }) = Each::of(facts, peer) else { return };
    let log_in = log_in(peer, each);
    let time = match setup.total().get() {
        Some(ns) => Nanos::new(ns.saturating_add(log_in.or_zero())),
        None => log_in,
    };
    let share = guards::share_of_storm(facts, peer.only_thread(), time, peer.opened * CALLS_EACH);
    let most = if each <= MAX_REQUESTS { MAX_REQUESTS } else { LONGEST_DIALOGUE as f64 };
    let each = Measurement::number("requests_per_connection", each).at_most(most);
    let closed = peer.closed as f64 / peer.opened as f64;
    let rate = whyslow_facts::window::per_second(peer.opened, peer.first, peer.last);
    let rate_text = rate.map_or(String::new(), |rate| format!(", {} per second", words::quantity(rate)));
    let turns = log_in.is_known().then(|| Measurement::time("time_of_turns_before_the_last", log_in));
    let cost = match setup.total().get() {
        Some(_) => {
            let turns = turns
                .as_ref()
                .map_or(String::new(), |turns| format!(", {turns} in the turns before the last of each"));
            format!(" ({} in setting them up, {} each{turns})", setup.total(), setup.mean())
        }
        None => String::new(),
    };
    let per_work = match facts.work.requests {
        0 => String::new(),
        _ => format!(" That is {}.", facts.work.rates(peer.opened)),
    };
    let served = Some(facts.work.requests).filter(|requests| *requests > 0);
    let per_request = served
        .map(|requests| Measurement::number("connections_per_request", peer.opened as f64 / requests as f64));
    let local = peer.kind == FdKind::Unix;
    let most = match facts.pace.untraced(rate) {
        _ if local => Severity::Notice,
        Some(rate) if rate < MIN_PER_S => Severity::Notice,
        _ => Severity::Critical,
    };
    let protocol = asked::unknown_protocol(facts, &peer.name);
    let saving = time.get().filter(|_| setup.timed > 0);
    let mut found = out
        .report(
            share,
            match is_most {
                true => format!("{}: {} connections, with at most {each} writes for each{rate_text}{cost}", peer.name, words::count(peer.opened)),
                false => format!("{}: {} connections for {} requests{rate_text}{cost}", peer.name, words::count(peer.opened), words::count(peer.requests)),
            },
        )
        .at_most(most)
        .subject(Subject {
            peer: Some(peer.name.to_string()),
            syscall: Some("connect".to_string()),
            protocol: protocol.clone(),
            ..Subjects::thread(facts, peer.tid)
        })
        .cause(format!(
            "Each connection to {} is closed after {}{} requests on average{}, so every request pays for a new one (round trips, and TLS or a log-in where there are any). \
             {} of {} connections were closed within the capture.{per_work}{}",
            peer.name,
            if is_most { "at most " } else { "" },
            each,
            peer.protocol.map_or(String::new(), |protocol| format!(" ({protocol})")),
            words::count(peer.closed),
            words::count(peer.opened),
            asked::by_direction(&protocol),
        ))
        .measured(Measurement::count("connections", peer.opened).at_least(MIN_CONNECTIONS as f64))
        .measured_all((!is_most).then(|| Measurement::count("requests", peer.requests)))
        .measured_all(rate.map(|rate| guards::passed(Measurement::per_second("connections_per_second", rate), MIN_PER_S)))
        .measured(Measurement::time("time", setup.total()))
        .measured(Measurement::time("time_per_connection", setup.mean()))
        .measured_all(turns)
        .measured(each)
        .measured(Measurement::count("connections_closed", peer.closed))
        .measured(Measurement::share("share_closed", closed).at_least(CLOSED_SHARE))
        .measured_all(per_request);
    for step in fixes(peer) {
        found = found.fix(step);
    }
    if let Some(saving) = saving {
        found = found.saving(Nanos::new(saving));
    }
    found
        .evidence_all(peer.connect_lines.iter())
        .verify(match peer.port() {
            Some(port) => format!("ss -tan state time-wait '( dport = :{port} )' | wc -l   (falls to few); strace -f -c -e trace=connect -p PID"),
            None => "strace -f -c -e trace=connect -p PID   (before and after)".to_string(),
        })
        .file();
}

/// The time of the answers before the last one of each connection: who opens a connection for one request says first who it is, and
/// waits for the answer. Unknown where it asks one thing alone, and of HTTP, which has no log-in.
#[gated]
fn log_in(peer: &PeerFacts, each: f64) -> Nanos {
    /// So much above one request for each connection is no log-in, but a connection that is used twice now and then.
    const TURNS: f64 = 1.5;
    let part = 1.0 - 1.0 / each.max(1.0);
    // Of a longer dialogue nobody knows which turns a connection that is kept would save.
    let logs_in = (TURNS..=MAX_REQUESTS).contains(&each)
        && !peer.protocol.is_some_and(|protocol| protocol.starts_with("HTTP"));
    let answers = peer.answers.total().get().filter(|_| logs_in);
    answers.map_or(Nanos::UNKNOWN, |ns| Nanos::new((ns as f64 * part) as u64))
}

fn fixes(peer: &PeerFacts) -> Vec<String> {
    let mut steps = Vec::new();
    match peer.protocol {
        Some("Redis") => steps.push("code: one client or a connection pool for the process (redis.ConnectionPool, JedisPool), not one for each command".to_string()),
        _ => {
            steps.push("code: one HTTP session or connection pool for the process (requests.Session, a shared http.Client whose bodies are read to the end and closed, PgBouncer or HikariCP for databases)".to_string());
            steps.push("check both sides for `Connection: close`; nginx towards its upstreams: keepalive 32; proxy_http_version 1.1; proxy_set_header Connection \"\";".to_string());
        }
    }
    steps.push("mind: the server must allow it (keep-alive time, number of connections)".to_string());
    steps
}
