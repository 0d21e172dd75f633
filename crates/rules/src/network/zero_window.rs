//! # zero-window
//!
//! ## What it is
//! A receiver does not read what it is sent: its TCP window is full, and the sender must stop.
//!
//! ## Why it is slow
//! The sender's writes wait, and whoever waits for that sender waits too. The network is innocent: the program at the
//! other end reads too slowly, because it is busy or waits for something itself.
//!
//! ## Example
//! ```text
//! 42 times a second this host tells a peer that its window is full; 6.2 MB wait to be read at 10.0.0.2:9092
//! ```
//!
//! ## What to do instead
//! Look at the reader: it is the slow part. Read in a thread of its own, or send less. Larger buffers help only against
//! short pauses.
//!
//! ## When it is wrong
//! Flow control by design: a backup is written as fast as its disk takes it, a paused download stands still. The host's counters
//! alone make a notice; where threads of a recorded program wait for room to write, their time counts. Of a peer on another host that
//! is said only where the host counts full windows: else the network may be what is slow.

use super::asked;
use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::guards::{self, Share, WARNING_SHARE};
use crate::{figures, words};
use whyslow_facts::Facts;
use whyslow_facts::folds::account::{CallTime, ObjectKind};
use whyslow_facts::host::figure;
use whyslow_model::event::Tid;
use whyslow_model::syscall::Moves;
use whyslow_model::{CallStats, Entity, Measurement, Metric, Nanos, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "zero-window",
    group: "network",
    summary: "a receiver does not read what it is sent, and the sender must stop",
    source: include_str!("zero_window.rs"),
    needs: &[Need::Either(&[figures::network(&[Metric::ZeroWindowSent]), Need::Durations])],
    check,
};

/// Times a second: fewer are pauses.
const MIN_RATE: f64 = 1.0;
/// Times in all, where that is known: fewer are one pause.
const MIN_TIMES: f64 = 10.0;

/// Waits of a thread for room: fewer are one pause.
const MIN_WAITS: u64 = 5;
/// A wait for room that is shorter is the copying itself, or a moment in which the reader had no CPU.
const LONG_WAIT: Nanos = Nanos::from_millis(2);

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    of_figures(facts, out);
    of_calls(facts, out);
}

/// What a thread waited until a peer took what it was sent.
struct Sender<'a> {
    tid: Tid,
    peer: &'a str,
    waited: u64,
    calls: CallStats,
    rows: Vec<&'a CallTime>,
}

/// Threads that wait for room in a connection, where no network is between: who reads at the other end is slow. Of a remote peer the
/// network may be, unless the host counts full windows.
#[gated]
fn of_calls(facts: &Facts, out: &mut Findings<'_>) {
    let seen = facts.host.host().and_then(|host| host.current(Metric::ZeroWindowSeen));
    let is_counted = seen.is_some_and(|rate| rate >= MIN_RATE);
    let mut senders: Vec<Sender<'_>> = Vec::new();
    for (id, thread) in facts.world.threads.iter() {
        let Some(account) = facts.accounts.of(id).filter(|account| account.tid == thread.tid) else {
            continue;
        };
        for row in account.calls.iter().filter(|row| waits_for_room(row)) {
            let object = facts.accounts.objects.get(row.key.object);
            let peer = object.name();
            let is_peer = object.kind == ObjectKind::Peer && asked::is_address(peer);
            if !is_peer || !(is_counted || asked::is_here(peer)) {
                continue;
            }
            let waited = row.parts.blocked_ns.saturating_add(row.parts.unsplit_ns);
            // Writes that find room are not counted among the waits.
            if waited / row.calls.count.max(1) < LONG_WAIT.or_zero() {
                continue;
            }
            match senders.iter_mut().find(|known| known.tid == thread.tid && known.peer == peer) {
                Some(known) => {
                    known.waited = known.waited.saturating_add(waited);
                    known.calls.merge(&row.calls);
                    known.rows.push(row);
                }
                None => senders.push(Sender {
                    tid: thread.tid,
                    peer,
                    waited,
                    calls: row.calls.clone(),
                    rows: vec![row],
                }),
            }
        }
    }
    senders.sort_by_key(|sender| std::cmp::Reverse(sender.waited));
    for sender in senders {
        let time = Nanos::new(sender.waited);
        let share = guards::share_of_ns(facts, Some(sender.tid), time, sender.calls.count);
        let mean = Nanos::new(sender.waited / sender.calls.count.max(1));
        if sender.calls.count < MIN_WAITS || share.value.is_none_or(|share| share < WARNING_SHARE) {
            continue;
        }
        let peer = sender.peer;
        let subject = Subject { peer: Some(peer.to_string()), ..Subjects::thread(facts, sender.tid) };
        let who = match sender.tid {
            0 => "the program".to_string(),
            _ => Subjects::words(&subject),
        };
        let waits = Measurement::count("waits", sender.calls.count).at_least(MIN_WAITS as f64);
        let mean = Measurement::time("time_per_wait", mean).at_least(LONG_WAIT.or_zero() as f64);
        let part = share.figure().at_least(WARNING_SHARE);
        let times = words::plural(sender.calls.count, "time");
        out.report(share, format!("{peer} reads too slowly: {who} waits {part} of the time for room to write to it, {times}, {mean} each"))
            .measured_all([part, waits, mean, Measurement::time("time", time)])
            .subject(subject)
            .cause("The other end does not read as fast as this one sends: its receive buffer and this socket's send buffer are full, and each write waits until the reader has made room. The time belongs to the reader, not to the network.")
            .fix("look at the reader: ss -tn (its Recv-Q is full), then whyslow record -p PID there: what does it wait for, or is it busy?")
            .fix("in the reader: read in a thread that does nothing else, and work from a bounded queue; or send it less")
            .fix("here: send from a thread of its own with a bounded queue, that whoever makes the data need not wait")
            .verify("ss -tn (Send-Q here and Recv-Q there fall to 0); the writes take microseconds")
            .saving(time)
            .evidence_all(sender.rows.iter().flat_map(|row| row.exemplars.iter()))
            .file();
    }
}

/// A write that waits, or a wait that room ends: a runtime waits for its own wake-ups beside.
fn waits_for_room(row: &CallTime) -> bool {
    let key = row.key;
    let is_room = |text: &str| {
        let told = text.rsplit_once("= 1 (").map_or(text, |(_, result)| result);
        told.contains("POLLOUT") && !told.contains("POLLIN")
    };
    let polls =
        matches!(key.syscall.info().name, "poll" | "ppoll" | "epoll_wait" | "epoll_pwait" | "epoll_pwait2");
    let lines = &row.exemplars;
    key.waits.is_some()
        && !row.is_at_most
        && (key.syscall.info().moves == Moves::Write
            || polls && lines.first.is_some() && lines.iter().all(|line| is_room(&line.text)))
}

#[gated]
fn of_figures(facts: &Facts, out: &mut Findings<'_>) {
    let Some(host) = facts.host.host() else { return };
    for (metric, queue) in
        [(Metric::ZeroWindowSent, Metric::ReceiveQueue), (Metric::ZeroWindowSeen, Metric::SendQueue)]
    {
        let Some(rate) = host.current(metric).filter(|rate| *rate >= MIN_RATE) else { continue };
        let times = host.times(metric);
        if times.is_some_and(|times| times < MIN_TIMES) {
            continue;
        }
        let ours = metric == Metric::ZeroWindowSent;
        let mut ends: Vec<_> = facts
            .host
            .things_that(|of| matches!(of, Entity::Peer(_) | Entity::Listener(_) | Entity::Process(_)))
            .into_iter()
            .filter_map(|(of, thing)| Some((thing.current(queue).filter(|bytes| *bytes > 0.0)?, of)))
            .collect();
        ends.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
        let worst = ends.first();
        let where_ = worst.map_or(String::new(), |(bytes, of)| {
            format!(": {} wait at {}", figure(queue, *bytes), facts.host.name_of(of))
        });
        let of = worst.map_or(&Entity::Host, |(_, of)| *of);
        let rate = Measurement::per_second("zero_windows_per_second", rate).at_least(MIN_RATE);
        let times = times.map(|times| Measurement::number("zero_windows", times).at_least(MIN_TIMES));
        let waiting = worst.map(|(bytes, _)| Measurement::bytes("bytes_waiting", bytes.round() as u64));
        let (title, cause, fix) = match ours {
            true => (
                format!("{rate} times per second this host tells a peer to stop sending{where_}"),
                "A program here does not read its connections as fast as data comes: their buffers are full, and the other ends must wait.",
                "find the reader: ss -tnp 'state established' | sort -k2 -n (Recv-Q), then whyslow record -p PID: what does it wait for?",
            ),
            false => (
                format!(
                    "{rate} times per second a peer's window is full and programs here must stop sending{where_}"
                ),
                "The program at the other end does not read as fast as this one sends: the wait belongs to it, not to the network.",
                "look at the peer: ss -tn (Send-Q names it), then whyslow record there: what does its reader wait for?",
            ),
        };
        out.report(Share::unknown(), title)
            .measured(rate)
            .measured_all(times)
            .measured_all(waiting)
            .subject(figures::subject(facts, of))
            .cause(cause)
            .fix(fix)
            .fix("read in a thread that does nothing else, and work from a bounded queue; or ask for less at a time")
            .fix("short pauses only: larger buffers (net.ipv4.tcp_rmem, tcp_wmem; no SO_RCVBUF in the program, which turns autotuning off)")
            .verify("nstat -az TcpExtTCPToZeroWindowAdv TcpExtTCPFromZeroWindowAdv TcpExtTCPWantZeroWindowAdv 1 (stands still)")
            .evidence_of(&Entity::Host, &[metric])
            .evidence_of(of, &[queue])
            .file();
    }
}
