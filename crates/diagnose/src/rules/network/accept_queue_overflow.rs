//! # accept-queue-overflow
//!
//! ## What it is
//! Connections reach a listening socket whose backlog is full: the kernel drops them.
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
//! load this way has a short backlog on purpose.

use crate::engine::{Findings, Need, Rule};
use crate::facts::Facts;
use crate::guards::Share;
use crate::words;
use whyslow_model::{Severity, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "accept-queue-overflow",
    group: "network",
    summary: "connections are dropped because a listening socket's backlog is full",
    source: include_str!("accept_queue_overflow.rs"),
    needs: &[Need::Table("net")],
    check,
};

/// Fewer are one burst or a port scan.
const SEVERAL: u64 = 3;
/// Findings of this rule in one diagnosis.
const MOST: usize = 3;

fn check(facts: &Facts, out: &mut Findings<'_>) {
    for (local, overflow) in facts.net.overflows().into_iter().take(MOST) {
        let port = local.rsplit_once(':').map_or(local, |(_, port)| port);
        let share = Share { value: None, of: String::new() };
        let severity = if overflow.count >= SEVERAL { Severity::Warning } else { Severity::Notice };
        let (from, to) = (overflow.first.time_of_day(), overflow.last.time_of_day());
        out.report(share, format!("{local}: the backlog was full {}: clients try again after 1 s, 3 s, 7 s", times(overflow.count)))
            .at_least(severity)
            .subject(Subject { pid: overflow.pid, peer: Some(local.to_string()), ..Subject::default() })
            .cause("More connections came than the program accepted in that time, and the queue for them is too short. The kernel drops what does not fit, and the client waits for nothing.")
            .fix("accept in a thread that does nothing else, or in several (SO_REUSEPORT)")
            .fix("a longer queue: listen(fd, 4096) in the program, and sysctl -w net.core.somaxconn=4096 (the smaller of the two counts; restart or listen again)")
            .fix("let clients keep their connections, so that fewer are made")
            .verify(format!("nstat -az TcpExtListenOverflows TcpExtListenDrops   (they stand still); ss -ltn 'sport = :{port}' (Recv-Q below Send-Q)"))
            .saving_text("one second and more for each connection that was dropped")
            .evidence_line(facts.recording_at(overflow.first), format!("{local}: backlog full, {}, from {from} to {to}", times(overflow.count)))
            .file();
    }
}

fn times(count: u64) -> String {
    if count == 1 { "once".to_string() } else { format!("{} times", words::count(count)) }
}
