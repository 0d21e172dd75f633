//! # connect-failing
//!
//! ## What it is
//! A program tries again and again to connect to a server that refuses, is unreachable or does not answer.
//!
//! ## Why it is slow
//! What needs the server does not get done. A refusal costs little each time, so that a loop without a pause
//! burns a CPU; an address that does not answer costs its whole time limit each time (about two minutes where
//! the program sets none: tcp_syn_retries).
//!
//! ## Example
//! ```text
//! connect(7, {sa_family=AF_INET, sin_port=htons(5672), sin_addr=inet_addr("10.0.0.9")}, 16) = -1 ECONNREFUSED
//! connect(7, {sa_family=AF_INET, sin_port=htons(5672), sin_addr=inet_addr("10.0.0.9")}, 16) = -1 ECONNREFUSED
//! ```
//!
//! ## What to do instead
//! Start the server, or correct the address or the firewall. Wait longer after each failure (exponential backoff
//! with jitter), and set a short time limit for connect.
//!
//! ## When it is wrong
//! A client that knows several addresses of a server (IPv6 and IPv4, "happy eyeballs") tries one after the other:
//! a refused one beside one that works is normal and stays quiet.

use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::{guards, words};
use whyslow_facts::folds::peers::host_of;
use whyslow_facts::{Facts, PeerFacts};
use whyslow_model::{CallStats, Errno, Measurement, Nanos, Severity, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "connect-failing",
    group: "network",
    summary: "connecting to a server fails again and again",
    source: include_str!("connect_failing.rs"),
    needs: &[Need::AnyOf(&["connect"])],
    check,
};

/// Fewer refusals are a try or two at start-up.
const MIN_FAILURES: u64 = 5;
/// Failures that take this long each count from the second on: somebody waited for them.
const SLOW_FAILURE: Nanos = Nanos::from_secs(1);
/// So many of those.
const MIN_SLOW_FAILURES: u64 = 2;
/// From this many on, with no success, what needs the server does not work at all.
const MANY: u64 = 20;
/// A loop that fails this often a second does not pause.
const NO_PAUSE_PER_S: f64 = 10.0;

/// What failed, over refusals and attempts that were given up.
struct Failing<'a> {
    peer: &'a PeerFacts,
    failures: u64,
    time: CallStats,
}

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let mut failing: Vec<Failing<'_>> =
        facts.peers.servers().filter_map(failing).filter(|one| !other_address_works(facts, one)).collect();
    if failing.is_empty() {
        return;
    }
    failing.sort_by_key(|one| std::cmp::Reverse((one.time.total_ns, one.failures)));
    failing.iter().for_each(|one| report(facts, out, one));
}

/// The socket of the name service cache: glibc tries it first and does without it (nscd(8)).
const OPTIONAL: &str = "/nscd/";

#[gated]
fn failing(peer: &PeerFacts) -> Option<Failing<'_>> {
    if peer.name.contains(OPTIONAL) {
        return None;
    }
    // An attempt that was soon given up lost a race against another address.
    let given_up = peer.abandoned.count > 0 && peer.abandoned.mean() >= SLOW_FAILURE;
    let abandoned = if given_up { peer.abandoned.count } else { 0 };
    let failures = abandoned
        + peer.failures.iter().filter(|(errno, _)| is_failure(*errno)).map(|(_, count)| count).sum::<u64>();
    let mut time = CallStats::of_totals(failures, failures, Nanos::UNKNOWN);
    if peer.succeeded() == 0 && (peer.connects.timed > 0 || given_up) {
        let abandoned_ns = if given_up { peer.abandoned.total_ns } else { 0 };
        time = CallStats::of_totals(failures, failures, Nanos::new(peer.connects.total_ns + abandoned_ns));
    }
    let slow = time.mean().get().is_some_and(|mean| mean >= SLOW_FAILURE.or_zero());
    let enough = failures >= MIN_FAILURES || (slow && failures >= MIN_SLOW_FAILURES);
    (enough && failures > peer.succeeded()).then_some(Failing { peer, failures, time })
}

fn is_failure(errno: Errno) -> bool {
    matches!(
        errno,
        Errno::ECONNREFUSED
            | Errno::EHOSTUNREACH
            | Errno::ENETUNREACH
            | Errno::ETIMEDOUT
            | Errno::ECONNRESET
            | Errno::ENOENT
            | Errno::EAGAIN
    )
}

/// Happy eyeballs: the same service at another address takes about as many connections as this one refuses.
#[gated]
fn other_address_works(facts: &Facts, one: &Failing<'_>) -> bool {
    let port = one.peer.port();
    port.is_some()
        && facts.peers.servers().any(|other| {
            other.port() == port
                && host_of(&other.name) != host_of(&one.peer.name)
                && other.opened * 2 >= one.failures
        })
}

#[gated]
fn report(facts: &Facts, out: &mut Findings<'_>, one: &Failing<'_>) {
    let peer = one.peer;
    let thread = peer.only_thread();
    let share = guards::share_of_storm(facts, thread, one.time.total(), one.failures);
    let errno = peer.main_failure();
    let how = match errno {
        Some(Errno::ECONNREFUSED) => "refused: nothing listens there",
        Some(Errno::ETIMEDOUT) => "no answer until the kernel's time limit",
        Some(Errno::EHOSTUNREACH | Errno::ENETUNREACH) => "no route to it",
        Some(Errno::ENOENT) => "no such socket",
        Some(Errno::EAGAIN) => "its accept queue is full",
        Some(_) => "failed",
        None => "no answer until the program gave up",
    };
    let name = errno.map_or("no answer", |errno| errno.name());
    let rate = whyslow_facts::window::per_second(one.failures, peer.first, peer.last);
    let rate_text = rate.map_or(String::new(), |rate| format!(", {} per second", words::quantity(rate)));
    let each = Measurement::time("time_per_connect", one.time.mean());
    let time_text = if each.value.is_some() { format!(", {each} each") } else { String::new() };
    let threshold = if one.failures >= MIN_FAILURES { MIN_FAILURES } else { MIN_SLOW_FAILURES };
    let failures = Measurement::count("failed_connects", one.failures).at_least(threshold as f64);
    let pause = match facts.pace.untraced(rate) {
        Some(rate) if rate >= NO_PAUSE_PER_S => " The attempts follow each other without a pause.",
        _ => "",
    };
    let least =
        if one.failures >= MANY && peer.succeeded() == 0 { Severity::Warning } else { Severity::Notice };
    let (host, port) = peer.name.rsplit_once(':').unwrap_or((&peer.name, ""));
    let see = match peer.port() {
        Some(_) => format!(
            "nc -vz -w 3 {} {port}; on the server: ss -ltnp 'sport = :{port}'",
            host.trim_matches(['[', ']'])
        ),
        None => format!("ss -lxp | grep {}", peer.name),
    };
    out.report(
        share,
        format!("{}: {} of {} connects failed ({name}){rate_text}{time_text}", peer.name, words::count(one.failures), words::count(one.failures + peer.succeeded())),
    )
    .at_least(least)
    .measured(failures)
    .measured(Measurement::count("connects", one.failures + peer.succeeded()))
    .measured_all(rate.map(|rate| Measurement::per_second("failed_connects_per_second", rate)))
    .measured(guards::passed(each, SLOW_FAILURE.or_zero() as f64))
    .subject(Subject { peer: Some(peer.name.to_string()), syscall: Some("connect".to_string()), errno, ..Subjects::thread(facts, peer.tid) })
    .cause(format!("{}: {how}. What needs it does not get done, and each attempt costs again.{pause}", peer.name))
    .fix(format!("find out whether it should be there: {see}"))
    .fix("correct the address or the firewall, or start the service; systemd: After= and Wants= the unit it needs, or socket activation")
    .fix("code: wait after a failure, longer each time and with jitter (100 ms, 200 ms, … 30 s), and set a short time limit for connect")
    .evidence_all(peer.failed_lines.iter())
    .verify("strace -f -e trace=connect,getsockopt -p PID   (the failures cease)")
    .saving(one.time.total())
    .file();
}
