//! # tls-handshake-per-request
//!
//! ## What it is
//! A program makes a new connection with TLS for each request, and the handshake is done in full each time: no session is resumed.
//!
//! ## Why it is slow
//! A full handshake takes one or two round trips more, and the server signs with its key (1 ms of CPU time with RSA of 2048 bits), sends its
//! chain of certificates, and the client checks all of them. That is more than most requests cost.
//!
//! ## Example
//! ```text
//! connect(5, {sa_family=AF_INET, sin_port=htons(443), sin_addr=inet_addr("10.0.0.7")}, 16) = 0 <0.000900>
//! write(5, "\26\3\1\2\0\1\0\1\374\3\3"..., 517) = 517 <0.000030>
//! read(5, "\27\3\3\4R"..., 4096) = 1111 <0.000010>
//! write(5, "\24\3\3\0\1\1\27\3\3\0E"..., 80) = 80 <0.000030>
//! ```
//!
//! ## What to do instead
//! Keep connections open and ask several times on each. Where they must be new, resume sessions: keep tickets in the client (one TLS context for
//! the process), and give them out in the server, with one key for all of its workers.
//!
//! ## When it is wrong
//! The first connection to a server, and connections on which much is asked, have their handshake once: they are quiet. Resumed sessions
//! have no certificate in them: then it is the connections that `connection-per-request` tells of. A server whose clients are all different
//! cannot change them; it is told only of clients that come again and again.

use super::asked::MAX_REQUESTS;
use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::guards::{self, Share};
use crate::{callers, sampled, words};
use whyslow_facts::folds::peers::Role;
use whyslow_facts::{Facts, PeerFacts, ProcessId};
use whyslow_model::{FdKind, Measurement, Nanos, SampleKind, SaturatingSum, Severity, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "tls-handshake-per-request",
    group: "network",
    summary: "a full TLS handshake for each request",
    source: include_str!("tls_handshake_per_request.rs"),
    needs: &[Need::Either(&[Need::AnyOf(&["connect", "accept", "accept4"]), Need::Sums])],
    check,
};

/// Fewer handshakes are no habit: a browser opens six connections to one host.
const MIN_HANDSHAKES: u64 = 20;
/// The part of the handshakes that are full: clients that resume do one full handshake for many.
const FULL_SHARE: f64 = 0.5;
/// Handshakes a second below which it is a slow poller's habit, not a cost.
const MIN_PER_S: f64 = 1.0;
/// Fewer samples in handshakes are chance.
const MIN_SAMPLES: u64 = 10;
/// Calls for a handshake: a few reads and writes.
const CALLS_EACH: u64 = 6;

/// Functions in which libraries do handshakes, by how their names begin: OpenSSL and what is made of it with Python, Ruby and PHP, GnuTLS, mbed TLS, NSS,
/// wolfSSL, Go, rustls, and the JDK.
const HANDSHAKES: &[&str] = &[
    "SSL_do_handshake",
    "ossl_statem_",
    "state_machine",
    "tls_process_",
    "tls_construct_",
    "tls_post_process_",
    "tls_finish_handshake",
    "_ssl__SSLSocket_do_handshake",
    "SSLSocket.do_handshake",
    "ssl_socket_connect",
    "ossl_start_ssl",
    "php_openssl_enable_crypto",
    "SSL_connect",
    "SSL_accept",
    "gnutls_handshake",
    "mbedtls_ssl_handshake",
    "SSL_ForceHandshake",
    "wolfSSL_connect",
    "wolfSSL_accept",
    "crypto/tls.(*Conn).clientHandshake",
    "crypto/tls.(*Conn).serverHandshake",
    "crypto/tls.(*Conn).handshakeContext",
    "rustls::client::hs::",
    "rustls::client::tls1",
    "rustls::server::hs::",
    "rustls::server::tls1",
    "sun.security.ssl.SSLHandshake",
    "sun.security.ssl.HandshakeContext",
    "sun.security.ssl.SSLSocketImpl.startHandshake",
];

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let mut peers: Vec<&PeerFacts> = facts.peers.iter().filter(|peer| is_wasteful(peer)).collect();
    peers.sort_by_key(|peer| std::cmp::Reverse((peer.handshakes.times.total_ns, peer.opened)));
    for peer in &peers {
        report(facts, out, peer);
    }
    // Where calls were only counted, no bytes tell: the stacks do.
    if peers.is_empty() && facts.mostly_counted() {
        by_samples(facts, out);
    }
}

#[gated]
fn is_wasteful(peer: &PeerFacts) -> bool {
    let handshakes = &peer.handshakes;
    let requests = if peer.closed > 0 { requests_each(peer) } else { f64::INFINITY };
    handshakes.times.count >= MIN_HANDSHAKES
        && handshakes.full as f64 >= FULL_SHARE * handshakes.times.count as f64
        && requests <= MAX_REQUESTS
}

/// Requests on each connection that ended.
fn requests_each(peer: &PeerFacts) -> f64 {
    peer.requests_of_closed as f64 / peer.closed.max(1) as f64
}

#[gated]
fn report(facts: &Facts, out: &mut Findings<'_>, peer: &PeerFacts) {
    let times = &peer.handshakes.times;
    // A connection that is kept has neither its handshake nor what comes before it.
    let setup = &peer.setup;
    let whole =
        if setup.timed > 0 && setup.total_ns > times.total_ns { setup.total() } else { times.total() };
    let share = guards::share_of_storm(facts, peer.only_thread(), whole, times.count * CALLS_EACH);
    let rate = whyslow_facts::window::per_second(times.count, peer.first, peer.last);
    let most = match facts.pace.untraced(rate) {
        Some(rate) if rate < MIN_PER_S => Severity::Notice,
        _ => Severity::Critical,
    };
    let count = Measurement::count("handshakes", times.count).at_least(MIN_HANDSHAKES as f64);
    let each = Measurement::number("requests_per_connection", requests_each(peer)).at_most(MAX_REQUESTS);
    let full = peer.handshakes.full as f64 / times.count.max(1) as f64;
    let full = Measurement::share("share_full", full).at_least(FULL_SHARE);
    let took = Measurement::time("time", times.total());
    let mean = Measurement::time("time_per_handshake", times.mean());
    let made = (whole > times.total()).then(|| Measurement::time("time_to_first_request", whole));
    let all = made
        .as_ref()
        .map_or(String::new(), |made| format!(" From connect to the first request it is {made} in all."));
    let rate_text = rate.map_or(String::new(), |rate| format!(", {} per second", words::quantity(rate)));
    let host = peer.host.as_deref().map_or(String::new(), |host| format!(" ({host})"));
    let is_server = peer.role == Role::Server;
    let (whom, why, first) = match is_server {
        true => (
            format!("{}{host}", peer.name),
            "The time is from the first message of each handshake to the first record behind it: the server's signature, the way there and back, and the check of its certificates.",
            KEEP,
        ),
        false => (
            format!("clients on {}", peer.name),
            "The time is from the first message of each handshake to the end of the answer: this program signs with its key each time.",
            "keep connections open: keep-alive in the server with a limit longer than the pause between two requests of a client, and in that client",
        ),
    };
    let mut found = out
        .report(
            share,
            format!("{whom}: {count} TLS handshakes, {full} of them in full{rate_text}: {took} in all, {mean} each"),
        )
        .at_most(most)
        .subject(Subject { peer: Some(peer.name.to_string()), ..Subjects::thread(facts, peer.tid) })
        .cause(format!(
            "Each connection has {each} requests on average, and begins with a handshake in which the certificate is sent anew. {why}{all}"
        ))
        .measured(count)
        .measured(full)
        .measured_all(rate.map(|rate| guards::passed(Measurement::per_second("handshakes_per_second", rate), MIN_PER_S)))
        .measured(took)
        .measured(mean)
        .measured_all(made)
        .measured(each)
        .fix(first)
        .fix("resume sessions where connections must be new: one TLS context for the process (ssl.SSLContext with session=, tls.Config.ClientSessionCache, SSL_CTX_set_session_cache_mode); in the server tickets whose key all workers share (nginx: ssl_session_cache shared:SSL:10m; ssl_session_ticket_key)")
        .fix("a cheaper signature: a certificate with a key of ECDSA P-256 instead of RSA");
    if whole.is_known() && peer.kind != FdKind::Unix {
        found = found.saving(whole);
    }
    found
        .verify(match peer.port().filter(|_| is_server) {
            Some(port) => format!("openssl s_client -connect {} -reconnect < /dev/null | grep -c Reused;  ss -tan state time-wait '( dport = :{port} )' | wc -l", peer.name),
            None => "openssl s_client -connect HOST:PORT -reconnect < /dev/null | grep -c Reused".to_string(),
        })
        .evidence_all(peer.handshakes.lines.iter())
        .file();
}

/// A process that makes or takes connections, by the stacks of its threads.
#[gated]
fn by_samples(facts: &Facts, out: &mut Findings<'_>) {
    for (process, _) in facts.world.threads.processes() {
        let threads = facts.world.threads.iter().map(|(_, thread)| thread);
        let calls = threads.filter(|thread| thread.process == process).flat_map(|thread| thread.all_calls());
        let wanted =
            calls.filter(|(call, _)| matches!(facts.name_of(*call), "connect" | "accept" | "accept4"));
        let made = wanted.map(|(_, calls)| calls.count).saturating_sum();
        if made < MIN_HANDSHAKES {
            continue;
        }
        let is_handshake = |name: &str| HANDSHAKES.iter().any(|known| name.starts_with(known));
        let of = |kind| sampled::in_functions(facts, kind, process, &is_handshake);
        let (computed, waited) = (of(SampleKind::OnCpu), of(SampleKind::OffCpu));
        let samples = computed.count.saturating_add(waited.count);
        let time = Nanos::new(computed.ns.saturating_add(waited.ns));
        let share = guards::share_of_ns(facts, None, time, samples);
        if samples >= MIN_SAMPLES && share.value.is_some_and(|share| share >= guards::WARNING_SHARE) {
            report_samples(facts, out, process, made, samples, (time, Nanos::new(waited.ns)), share);
        }
    }
}

fn report_samples(
    facts: &Facts,
    out: &mut Findings<'_>,
    process: ProcessId,
    made: u64,
    samples: u64,
    (time, waited): (Nanos, Nanos),
    share: Share,
) {
    let pid = facts.world.threads.process(process).pid.unwrap_or(0);
    let subject = Subjects::thread(facts, pid);
    let name = facts.world.threads.process(process).name().map(str::to_string).or(subject.comm.clone());
    let name = name.unwrap_or_else(|| "the program".to_string());
    let site = facts.samples.own_site(SampleKind::OnCpu, process, None, |_| true).map(|(site, _)| site);
    let connections = Measurement::count("connections", made).at_least(MIN_HANDSHAKES as f64);
    let took = Measurement::time("time", time);
    let samples = Measurement::count("samples", samples).at_least(MIN_SAMPLES as f64);
    out.report(
        share,
        format!("{name}: TLS handshakes take {took}, for {connections} connections{}", callers::words(site.as_ref())),
    )
    .subject(Subject { function: callers::function(site.as_ref()), tid: None, ..subject })
    .cause("A session that is resumed costs hardly anything: so handshakes are done in full, for one connection after the other. Calls were only counted, so that how many requests go over each connection is not seen.")
    .measured(took)
    .measured(Measurement::time("time_of_waits", waited))
    .measured(connections)
    .measured(samples)
    .fix(KEEP)
    .fix("resume sessions where connections must be new: one TLS context for the process, and tickets whose key all workers of the server share")
    .verify("perf top -p PID --sort symbol   (handshakes and signatures fall)")
    .saving(time)
    .evidence_line(facts.recording_at(facts.window.start), format!("{} in functions of handshakes", words::duration(time)))
    .file();
}

const KEEP: &str = "code: one client for the process that keeps its connections (requests.Session, a shared http.Client or https.Agent with keepAlive, one HttpClient); read answers to their end, so that a connection can be used again";
