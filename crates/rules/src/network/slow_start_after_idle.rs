//! # slow-start-after-idle
//!
//! ## What it is
//! On a connection that was idle a large answer takes several round trips: the server's kernel has forgotten how much the line takes, and begins anew
//! with ten segments.
//!
//! ## Why it is slow
//! After an idle time of one retransmission timeout (200 ms and a round trip) Linux shrinks the window of a connection
//! (net.ipv4.tcp_slow_start_after_idle). It doubles with each round trip from there: 400 kB over 40 ms take 200 ms instead of 40.
//!
//! ## Example
//! ```text
//! sendto(3, "get 400000 \n", 12, 0, NULL, 0) = 12
//! recvfrom(3, "x"..., 65536, 0, NULL, NULL) = 14480 <0.041000>
//! recvfrom(3, "x"..., 65536, 0, NULL, NULL) = 28960 <0.047000>
//! recvfrom(3, "x"..., 65536, 0, NULL, NULL) = 57920 <0.045000>
//! ```
//!
//! ## What to do instead
//! On the server: `sysctl -w net.ipv4.tcp_slow_start_after_idle=0`, or BBR, which keeps what it knows. Fewer connections, so that each is used
//! more often. Smaller answers (compression, pages).
//!
//! ## When it is wrong
//! In one data centre a round trip takes less than a millisecond, and nothing is lost: pieces that come within 5 ms are one. The first answers of a
//! connection have a small window anyway. A server that makes its answer piece by piece sends pieces that do not double.

use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::guards;
use whyslow_facts::Facts;
use whyslow_facts::folds::idle_answers::IdleAnswer;
use whyslow_model::{Measurement, Nanos, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "slow-start-after-idle",
    group: "network",
    summary: "large answers on connections that were idle take several round trips",
    source: include_str!("slow_start_after_idle.rs"),
    needs: &[Need::Durations, Need::Clock, Need::AnyOf(&["read", "recvfrom", "recvmsg", "readv"])],
    check,
};

/// Fewer answers may have come so by chance.
const MIN_ANSWERS: u64 = 2;
/// Of the large answers after a pause, those that came in pieces that double.
const GROWING_SHARE: f64 = 0.5;
/// Where answers without a pause come in nearly as many pieces, it is the line or the server: of those after one, at most.
const OTHERS_SHARE: f64 = 0.7;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let mut rows: Vec<&IdleAnswer> = facts.idle_answers.rows.iter().filter(|row| starts_anew(row)).collect();
    rows.sort_by_key(|row| std::cmp::Reverse((row.growing.total_ns, row.tid)));
    for row in rows {
        report(facts, out, row);
    }
}

/// Pieces of an answer, on average.
fn pieces_each(pieces: u64, answers: u64) -> f64 {
    pieces as f64 / answers.max(1) as f64
}

#[gated]
fn starts_anew(row: &IdleAnswer) -> bool {
    let after = pieces_each(row.pieces, row.growing.count);
    let others = if row.others.count > 0 { pieces_each(row.other_pieces, row.others.count) } else { 0.0 };
    row.growing.count >= MIN_ANSWERS
        && row.growing.count as f64 >= GROWING_SHARE * row.after_pause as f64
        && others <= OTHERS_SHARE * after
}

fn report(facts: &Facts, out: &mut Findings<'_>, row: &IdleAnswer) {
    let growing = &row.growing;
    let tid = Some(row.tid).filter(|_| !row.shared);
    let share = guards::share_of_ns(facts, tid, growing.total(), growing.count);
    let count = Measurement::count("answers", growing.count).at_least(MIN_ANSWERS as f64);
    let took = Measurement::time("time", growing.total());
    let each = Measurement::time("time_per_answer", growing.mean());
    let bytes = Measurement::bytes("bytes_per_answer", growing.bytes / growing.count.max(1));
    let pieces = Measurement::number("pieces_per_answer", pieces_each(row.pieces, growing.count));
    let gap = Measurement::time("time_between_pieces", Nanos::new(row.gaps_ns / row.gaps.max(1)));
    let idle = Measurement::time("idle_before", Nanos::new(row.idle_ns / growing.count.max(1)));
    let part = growing.count as f64 / row.after_pause.max(1) as f64;
    let others = (row.others.count > 0).then(|| {
        [
            Measurement::time("time_per_answer_without_pause", row.others.mean()),
            Measurement::number("pieces_without_pause", pieces_each(row.other_pieces, row.others.count)),
        ]
    });
    let compared = match &others {
        Some([time, pieces]) => {
            format!(" Without a pause before it, an answer has {pieces} pieces in {time}.")
        }
        None => String::new(),
    };
    let rtt = facts.net.peers().into_iter().find(|(name, _)| **name == *row.peer);
    let rtt = rtt.map(|(_, net)| net.rtt.percentile(0.5)).filter(|rtt| rtt.is_known());
    let rtt = rtt.map(|rtt| Measurement::time("round_trip", rtt));
    out.report(
        share,
        format!("{}: {count} answers on idle connections come in {pieces} pieces, {gap} apart: {took} in all, {each} for {bytes}", row.peer),
    )
    .subject(Subject { peer: Some(row.peer.to_string()), ..Subjects::thread(facts, row.tid) })
    .cause(format!(
        "The pieces double, one in each round trip: that is a window that grows from its beginning. The connection was idle for {idle} before, after which the sender's kernel forgets how much the line takes.{compared}"
    ))
    .measured(count)
    .measured(took)
    .measured(each)
    .measured(bytes)
    .measured(pieces)
    .measured(gap)
    .measured(idle)
    .measured(Measurement::share("share_of_answers_after_a_pause", part).at_least(GROWING_SHARE))
    .measured_all(others.into_iter().flatten())
    .measured_all(rtt)
    .fix("on the server that sends: sysctl -w net.ipv4.tcp_slow_start_after_idle=0 (and in /etc/sysctl.d)")
    .fix("on the server: sysctl -w net.ipv4.tcp_congestion_control=bbr, or a larger first window (ip route change … initcwnd 30)")
    .fix("fewer connections in the pool, so that each is used again before it is idle; smaller answers (gzip, pages)")
    .verify("ss -tin dst PEER   (cwnd after a pause stays above 10);  nstat -az TcpExtTCPSlowStartRetrans")
    .saving(growing.total())
    .evidence_all(row.lines.iter())
    .file();
}
