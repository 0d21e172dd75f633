//! # delayed-ack
//!
//! ## What it is
//! A request goes out in two small writes, and its answer comes 40 ms (or 200 ms) later, each time.
//!
//! ## Why it is slow
//! Nagle's algorithm holds the second small segment back until the first one is acknowledged. The other end has nothing to
//! answer yet and delays its ACK, 40 ms on Linux, up to 200 ms elsewhere. Both wait for each other; no machine is busy.
//!
//! ## Example
//! ```text
//! sendto(5, "POST /x HTTP/1.1\r\n...", 20, 0, NULL, 0) = 20 <0.000022>
//! sendto(5, "{\"id\": 1}", 40, 0, NULL, 0) = 40 <0.000022>
//! recvfrom(5, "HTTP/1.1 200 OK"..., 100, 0, NULL, NULL) = 20 <0.043746>
//! ```
//!
//! ## What to do instead
//! One write for one message: writev, a buffered writer that is flushed once. TCP_NODELAY on the connection where the
//! code cannot be changed (most HTTP and RPC libraries set it; hand-written protocols forget it).
//!
//! ## When it is wrong
//! A peer that needs 40 ms for each answer looks alike. Where the program also sends in one write to the same peer, those
//! answers tell: if they take as long, the peer thinks, and nothing is said.

use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::{guards, words};
use whyslow_facts::Facts;
use whyslow_facts::folds::exchanges::Exchanges;
use whyslow_model::syscall::Class;
use whyslow_model::{Measurement, Nanos, Severity, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "delayed-ack",
    group: "network",
    summary: "two small writes before an answer wait for a delayed ACK",
    source: include_str!("delayed_ack.rs"),
    needs: &[Need::Durations, Need::Clock, Need::Descriptors, Need::Class(Class::Network)],
    check,
};

/// Fewer delays are chance: a timer's length is met by other waits too.
const MIN_DELAYED: u64 = 5;
/// The part of the split exchanges that is delayed: the kernel acknowledges some at once (quick ACKs after a pause).
const DELAYED_PART: f64 = 0.5;
/// From so many exchanges in one write on, they tell how long the peer takes.
const ENOUGH_SINGLE: u64 = 5;
/// The part of those that may take as long.
const SINGLE_PART: f64 = 0.25;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let mut found: Vec<&Exchanges> = facts.exchanges.rows.iter().filter(|row| is_delayed(row)).collect();
    found.sort_by_key(|row| std::cmp::Reverse(row.split.delayed_ns));
    for row in found {
        let (split, time) = (&row.split, Nanos::new(row.split.delayed_ns));
        let tid = Some(row.tid).filter(|_| !row.shared);
        let share = guards::share_of_ns(facts, tid, time, split.delayed);
        let mean = Measurement::time("delay", Nanos::new(split.delayed_ns / split.delayed.max(1)));
        let part = split.delayed as f64 / split.count.max(1) as f64;
        let title = format!(
            "{}: {} of {} in two small writes wait {mean} for a delayed ACK",
            row.peer,
            words::count(split.delayed),
            words::plural(split.count, "message"),
        );
        let in_one_write = row.single.delayed as f64 / row.single.count.max(1) as f64;
        let in_one_write =
            Measurement::share("share_delayed_in_one_write", in_one_write).at_most(SINGLE_PART);
        let contrast = match row.single.count >= ENOUGH_SINGLE {
            true => format!(
                " Of {} sent in one write {} took as long.",
                words::count(row.single.count),
                words::count(row.single.delayed)
            ),
            false => String::new(),
        };
        let subject = Subject { peer: Some(row.peer.to_string()), ..Subjects::thread(facts, row.tid) };
        out.report(share, title)
            .measured(Measurement::count("delayed_messages", split.delayed).at_least(MIN_DELAYED as f64))
            .measured(Measurement::count("messages", split.count))
            .measured(Measurement::share("share_delayed", part).at_least(DELAYED_PART))
            .measured(mean)
            .measured(Measurement::time("time", time))
            .measured(Measurement::count("messages_in_one_write", row.single.count))
            .measured(Measurement::count("delayed_in_one_write", row.single.delayed))
            .measured_all((row.single.count >= ENOUGH_SINGLE).then_some(in_one_write))
            .at_most(Severity::Critical)
            .subject(subject)
            .cause(format!(
                "The second write stays in the kernel until the peer acknowledges the first (Nagle's algorithm), and the peer delays that ACK because it has nothing to send: {time} in all, while both sides are idle.{contrast}"
            ))
            .fix("code: put head and body into one write (writev, sendmsg with two buffers, a buffered writer flushed once per message)")
            .fix("or set TCP_NODELAY on the connection: setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, 1); Python sock.setsockopt(IPPROTO_TCP, TCP_NODELAY, 1), Java Socket.setTcpNoDelay(true), Rust TcpStream::set_nodelay(true)")
            .fix("the other end, if this one cannot be changed: TCP_QUICKACK after each read (Linux); it is not sticky")
            .verify("tcpdump -ni any -ttt 'tcp and host PEER': the second segment follows the bare ACK, 40 ms after the first; after the change it follows at once")
            .saving(time)
            .evidence_all(row.lines.iter())
            .file();
    }
}

#[gated]
fn is_delayed(row: &Exchanges) -> bool {
    let (split, single) = (&row.split, &row.single);
    let thinks = single.count >= ENOUGH_SINGLE && single.delayed as f64 > SINGLE_PART * single.count as f64;
    split.delayed >= MIN_DELAYED
        && split.delayed as f64 >= DELAYED_PART * split.count as f64
        && !row.no_delay
        && !thinks
}
