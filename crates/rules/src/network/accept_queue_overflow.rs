//! # accept-queue-overflow
//!
//! ## What it is
//! Connections wait in the backlog of a listening socket, because the thread that accepts them is asleep; or they reach one whose backlog
//! is full, and the kernel drops them.
//!
//! ## Why it is slow
//! The client does not learn of it. It tries again after one second, then after three, then seven: a request that would
//! take milliseconds takes seconds, and nothing in the server's own times shows it.
//!
//! ## Example
//! ```text
//! 0.0.0.0:8080: backlog full, 42 times
//! ```
//!
//! ## What to do instead
//! Accept faster (a thread that does nothing else), and a longer backlog: both the number given to `listen` and
//! `net.core.somaxconn` limit it.
//!
//! ## When it is wrong
//! A port scan or one burst overflows a backlog once or twice: below three it is a notice. A server that is to shed
//! load this way has a short backlog on purpose. A trace of calls shows that connections waited, and not that some were dropped: where
//! it is all there is, the finding is a warning at most, and less than two connections after a sleep are none. Beside recorded programs, whose
//! sockets tell of their own drops, what only the host counts is another program's: a notice.

use super::late_accepts;
use crate::engine::{Findings, Need, Rule};
use crate::figures;
use crate::gate::gated;
use crate::guards::{self, Share};
use crate::words;
use whyslow_facts::Facts;
use whyslow_facts::host::Thing;
use whyslow_model::{Entity, Measurement, Metric, Severity, Subject, Trait};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "accept-queue-overflow",
    group: "network",
    summary: "connections wait in a listening socket's backlog, or are dropped because it is full",
    source: include_str!("accept_queue_overflow.rs"),
    needs: &[Need::Either(&[
        Need::Table("net"),
        figures::network(&[Metric::ListenOverflows]),
        Need::Growth(&[Metric::ListenOverflows]),
        Need::AnyOf(&["accept", "accept4"]),
    ])],
    check,
};

/// What tells of dropped connections.
const COUNTS: Need = Need::Either(&[
    Need::Table("net"),
    figures::network(&[Metric::ListenOverflows]),
    Need::Growth(&[Metric::ListenOverflows]),
]);
/// Fewer are one burst or a port scan.
const SEVERAL: u64 = 3;
/// What bounds such queues.
const LIMITS: [Metric; 2] = [Metric::BacklogLimitMost, Metric::SynBacklogLimit];

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    for (local, overflow) in facts.net.overflows() {
        let port = local.rsplit_once(':').map_or(local, |(_, port)| port);
        let share = Share::unknown();
        let severity = if overflow.count >= SEVERAL { Severity::Warning } else { Severity::Notice };
        let (from, to) = (overflow.first.time_of_day(), overflow.last.time_of_day());
        out.report(share, format!("{local}: the backlog was full {}: clients try again after a second and more", times(overflow.count)))
            .at_least(severity)
            .measured(guards::passed(Measurement::count("overflows", overflow.count), SEVERAL as f64))
            .subject(Subject { pid: overflow.pid, peer: Some(local.to_string()), ..Subject::default() })
            .cause("More connections came than the program accepted in that time, and the queue for them is too short. The kernel drops what does not fit, and the client tries again after 1 s, 3 s, 7 s.")
            .fix("accept in a thread that does nothing else, or in several (SO_REUSEPORT)")
            .fix("a longer queue: listen(fd, 4096) in the program, and sysctl -w net.core.somaxconn=4096 (the smaller of the two counts; restart or listen again)")
            .fix("let clients keep their connections, so that fewer are made")
            .verify(format!("nstat -az TcpExtListenOverflows TcpExtListenDrops   (they stand still); ss -ltn 'sport = :{port}' (Recv-Q below Send-Q)"))
            .saving_text("one second and more for each connection that was dropped")
            .evidence_line(facts.recording_at(overflow.first), format!("{local}: backlog full, {}, from {from} to {to}", times(overflow.count)))
            .evidence_of(&Entity::Host, &LIMITS)
            .file();
    }
    // A recorder names the socket.
    if facts.net.overflows().is_empty() {
        of_host(facts, out);
    }
    let told = !facts.net.overflows().is_empty();
    if !told
        && !late_accepts::report(facts, out)
        && let Some((missing, supply)) = COUNTS.missing(facts)
    {
        out.not_judged(missing, supply);
    }
}

#[gated]
fn of_host(facts: &Facts, out: &mut Findings<'_>) {
    let Some(host) = facts.host.host() else { return };
    let rate = host.current(Metric::ListenOverflows);
    let count = host.happened(Metric::ListenOverflows);
    let Some(most) = count.or(rate).filter(|most| *most > 0.0) else { return };
    let several = most >= SEVERAL as f64;
    let listeners = facts.host.things_that(|of| matches!(of, Entity::Listener(_)));
    let full = listeners.into_iter().filter_map(|(of, thing)| {
        let (waiting, room) =
            (thing.current_reading(Metric::Backlog)?.max, thing.current(Metric::BacklogLimit)?);
        (room > 0.0 && waiting >= room).then_some((waiting, room, of, thing))
    });
    let full: Vec<_> = full.collect();
    let fullest = full.iter().max_by(|a, b| a.0.total_cmp(&b.0).then(b.2.cmp(a.2)));
    let program = |thing: &Thing| match (thing.name(), thing.told(Trait::Owner)) {
        (Some(name), Some(pid)) => format!(" of {name} (pid {pid})"),
        (Some(name), None) => format!(" of {name}"),
        _ => String::new(),
    };
    let (which, of) = match fullest {
        Some((waiting, room, of, thing)) => (
            format!(
                " {of}{} had {} waiting, with room for {}.{}",
                program(thing),
                words::quantity(*waiting),
                words::quantity(*room),
                bounded_by(host, *room)
            ),
            *of,
        ),
        None => (
            " Which socket it was shows in ss -ltn while it happens: Recv-Q above Send-Q.".to_string(),
            &Entity::Host,
        ),
    };
    // A recorder sees the sockets of what it records: what only the host counts is another program's.
    let is_anothers = guards::records_programs(facts) && facts.has_table("net");
    // Where several are full, the count is of all of them.
    let whose = match full.as_slice() {
        [(_, _, of, thing)] => format!("{of}{}: the backlog", program(thing)),
        _ if is_anothers => "the backlog of a listening socket of another program on this host".to_string(),
        _ => "a listening socket's backlog".to_string(),
    };
    let (figure, often) = match count.map(|count| count.round() as u64) {
        Some(count) => (Measurement::count("overflows", count), times(count)),
        None => {
            let rate = Measurement::per_second("overflows_per_second", most);
            let often = format!("{rate} times a second");
            (rate, often)
        }
    };
    let backlog = fullest.into_iter().flat_map(|(waiting, room, ..)| {
        [
            Measurement::number("backlog", *waiting).at_least(*room),
            Measurement::number("backlog_limit", *room),
        ]
    });
    let most_allowed = host.current(Metric::BacklogLimitMost).filter(|_| fullest.is_some());
    out.report(Share::unknown(), format!("{whose} was full {often}: clients try again after a second and more"))
        .at_least(if several { Severity::Warning } else { Severity::Notice })
        .at_most(if is_anothers { Severity::Notice } else { Severity::Critical })
        .measured(guards::passed(figure, SEVERAL as f64))
        .measured_all(backlog)
        .measured_all(most_allowed.map(|most| Measurement::number("backlog_limit_most", most)))
        .subject(figures::subject(facts, of))
        .cause(format!("More connections came than the program accepted in that time, and the queue for them is too short. The kernel drops what does not fit, and the client tries again after 1 s, 3 s, 7 s.{which}"))
        .fix("accept in a thread that does nothing else, or in several (SO_REUSEPORT)")
        .fix("a longer queue: listen(fd, 4096) in the program, and sysctl -w net.core.somaxconn=4096 (the smaller of the two counts; restart or listen again)")
        .verify("nstat -az TcpExtListenOverflows TcpExtListenDrops (they stand still); ss -ltn (Recv-Q below Send-Q)")
        .saving_text("one second and more for each connection that was dropped")
        .evidence_of(&Entity::Host, &[Metric::ListenOverflows, Metric::ListenDrops])
        .evidence_of(of, &[Metric::Backlog, Metric::BacklogLimit])
        .evidence_of(&Entity::Host, &LIMITS)
        .file();
}

/// Which of the two limits holds: the kernel takes the smaller (listen(2)).
#[gated]
fn bounded_by(host: &Thing, room: f64) -> String {
    match host.current(Metric::BacklogLimitMost) {
        Some(most) if room >= most => {
            format!(" net.core.somaxconn ({}) allows no more.", words::quantity(most))
        }
        Some(most) => {
            format!(" The program asked for no more; net.core.somaxconn allows {}.", words::quantity(most))
        }
        None => String::new(),
    }
}

fn times(count: u64) -> String {
    if count == 1 { "once".to_string() } else { format!("{} times", words::count(count)) }
}
