//! # tiny-socket-buffer
//!
//! ## What it is
//! The program made a socket's buffer small by SO_SNDBUF or SO_RCVBUF, and transfers wait for it: no more than a buffer is under way at a time.
//!
//! ## Why it is slow
//! What goes over a connection in a second is at most its buffer divided by the round trip: 8 kB over 20 ms are 400 kB/s, however wide the
//! line. A size that is set is kept: the kernel no longer makes the buffer larger by itself.
//!
//! ## Example
//! ```text
//! setsockopt(4, SOL_SOCKET, SO_SNDBUF, [4096], 4) = 0
//! sendto(4, "…"..., 65536, 0, NULL, 0) = 65536 <0.318000>
//! ```
//!
//! ## What to do instead
//! Take the setsockopt out: the kernel fits buffers to the line (net.ipv4.tcp_wmem, tcp_rmem). Where a size must be set, take the bandwidth times
//! the round trip.
//!
//! ## When it is wrong
//! Small messages do not fill a buffer: without waits for room it is quiet. Some senders keep buffers small on purpose, so that what is new is not queued
//! behind what is old (video, games): where they wait, it is said all the same. A reader that is slow makes its sender wait at any size: where one
//! buffer takes longer than a second, it is a notice.

use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::{callers, guards};
use whyslow_facts::Facts;
use whyslow_facts::folds::small_buffers::{Bounds, SmallBuffer};
use whyslow_model::{Measurement, Nanos, Severity, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "tiny-socket-buffer",
    group: "network",
    summary: "transfers wait for a socket buffer that the program made small",
    source: include_str!("tiny_socket_buffer.rs"),
    needs: &[Need::Durations, Need::Clock, Need::AnyOf(&["setsockopt"])],
    check,
};

/// Fewer waits are one moment.
const MIN_WAITS: u64 = 5;
/// Buffers that went through it: less is no transfer.
const MIN_BUFFERS: u64 = 16;
/// The part of the waits at which the buffer was full.
const FULL_SHARE: f64 = 0.5;
/// From this time for each buffer on it is the other end that is slow: no line has such a round trip, ns.
const SLOW_READER_NS: u64 = 1_000_000_000;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let mut rows: Vec<&SmallBuffer> = facts.small_buffers.rows.iter().filter(|row| is_tight(row)).collect();
    rows.sort_by_key(|row| std::cmp::Reverse((row.waited_ns, row.tid)));
    for row in rows {
        report(facts, out, row);
    }
}

#[gated]
fn is_tight(row: &SmallBuffer) -> bool {
    row.waits >= MIN_WAITS
        && row.bytes / row.size.max(1) >= MIN_BUFFERS
        && row.full_rounds as f64 >= FULL_SHARE * row.waits as f64
}

#[gated]
fn report(facts: &Facts, out: &mut Findings<'_>, row: &SmallBuffer) {
    let time = Nanos::new(row.waited_ns);
    let tid = Some(row.tid).filter(|_| !row.shared);
    let share = guards::share_of_ns(facts, tid, time, row.waits);
    let buffers = row.bytes / row.size.max(1);
    let each = row.waited_ns / buffers.max(1);
    let most = if each >= SLOW_READER_NS { Severity::Notice } else { Severity::Critical };
    let size = Measurement::bytes("buffer", row.size);
    let waits = Measurement::count("waits", row.waits).at_least(MIN_WAITS as f64);
    let took = Measurement::time("time", time);
    let bytes = Measurement::bytes("bytes", row.bytes);
    let part = row.full_rounds as f64 / row.waits.max(1) as f64;
    let rate = row.bytes as f64 / (row.waited_ns.max(1) as f64 / 1e9);
    let rate = Measurement::bytes("bytes_per_second_of_waiting", rate as u64);
    let option = row.bounds.option();
    let (does, other) = match row.bounds {
        Bounds::Sends => ("sends", "until the other end has confirmed what was sent"),
        Bounds::Receives => ("receives", "until the other end hears that there is room, and sends more"),
    };
    let calls: &[&str] = match row.bounds {
        Bounds::Sends => &["write", "writev", "sendto", "sendmsg", "poll", "epoll_wait"],
        Bounds::Receives => &["read", "readv", "recvfrom", "recvmsg", "poll", "epoll_wait"],
    };
    let site = callers::of_calls(facts, row.tid, calls);
    let pid = Subjects::thread(facts, row.tid).pid.map_or("PID".to_string(), |pid| pid.to_string());
    out.report(
        share,
        format!(
            "{}: {option} is {size}, and what it {does} waits for room {waits} times: {took} for {bytes}{}",
            row.peer,
            callers::words(site.as_ref())
        ),
    )
    .at_most(most)
    .subject(Subject { peer: Some(row.peer.to_string()), function: callers::function(site.as_ref()), ..Subjects::thread(facts, row.tid) })
    .cause(format!(
        "No more than the buffer (the kernel takes twice of what is asked for) is under way at a time, and the program waits {other}: {rate} for each second of these waits. A size that is set does not grow."
    ))
    .measured(size)
    .measured(waits)
    .measured(Measurement::number("buffers", buffers as f64).at_least(MIN_BUFFERS as f64))
    .measured(took)
    .measured(bytes)
    .measured(rate)
    .measured(Measurement::share("share_of_waits_with_a_full_buffer", part).at_least(FULL_SHARE))
    .measured(Measurement::time("time_per_buffer", Nanos::new(each)))
    .fix(format!("code: drop setsockopt({option}) (also of the listening socket, from which connections have it): the kernel fits the buffer to the line"))
    .fix("settings that set it: nginx listen … sndbuf= rcvbuf=, HAProxy tune.sndbuf.client and the like, Kafka send.buffer.bytes and receive.buffer.bytes (-1 leaves it to the kernel), rsync --sockopts, vsftpd trans_chunk_size")
    .fix("where it must be set: bandwidth times round trip (1 Gbit/s over 20 ms are 2.5 MB), and net.core.wmem_max, net.core.rmem_max as large")
    .verify(format!("ss -tmin -p | grep -A1 'pid={pid},'   (skmem tb or rb, cwnd, rtt, delivery_rate)"))
    .saving(time)
    .evidence(Some(&row.line))
    .evidence(row.longest.as_ref())
    .file();
}
