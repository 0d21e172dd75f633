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
//! Flow control by design: a backup is written as fast as its disk takes it, a paused download stands still. Alone it is a
//! notice; where threads of a recorded program wait for the network to take what they write, their time counts.

use crate::engine::{Findings, Rule};
use crate::figures;
use crate::guards::Share;
use whyslow_facts::Facts;
use whyslow_facts::host::figure;
use whyslow_model::{Entity, Measurement, Metric};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "zero-window",
    group: "network",
    summary: "a receiver does not read what it is sent, and the sender must stop",
    source: include_str!("zero_window.rs"),
    needs: &[figures::network(&[Metric::ZeroWindowSent])],
    check,
};

/// Times a second: fewer are pauses.
const MIN_RATE: f64 = 1.0;
/// Times in all, where that is known: fewer are one pause.
const MIN_TIMES: f64 = 10.0;

fn check(facts: &Facts, out: &mut Findings<'_>) {
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
            .confidence(0.7)
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
