//! # missing-timeout
//!
//! ## What it is
//! A thread waits for an answer, or for a connection, in a call that has no limit of time, and the other end says nothing
//! for ten seconds or more, or until the capture ends. Or questions are still without an answer when the capture ends, though the same
//! server answered others at once.
//!
//! ## Why it is slow
//! A peer that vanished without a word (a host that fell out, a firewall that forgot the connection) never answers. The
//! call then waits for hours, and with it the thread, its locks and its place in the pool.
//!
//! ## Example
//! ```text
//! sendto(5, "GET /price HTTP/1.1\r\n", 21, 0, NULL, 0) = 21 <0.000031>
//! recvfrom(5,  <unfinished ...>
//! ```
//!
//! ## What to do instead
//! A limit for connecting and one for reading, both shorter than what the caller waits; then give the connection up and
//! say so. Where the connection is idle for long by design: keepalive and TCP_USER_TIMEOUT.
//!
//! ## When it is wrong
//! Whoever subscribes waits for hours on purpose (a queue's consumer, a long poll, BLPOP, LISTEN). So it is a warning only where
//! the same peer has answered requests before, each within a second, and the recording shows that it was asked; else it is a notice. Waits with a limit of their own
//! (SO_RCVTIMEO, a poll with a timeout) are none. Of a question on a connection of an event loop no limit shows: it counts where it has waited
//! for ten times as long as the slowest answer took, a second at least, and none was given up before.

use super::hung;
use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::{guards, words};
use whyslow_facts::Facts;
use whyslow_facts::folds::exchanges::{Endless, ExchangeFacts, Exchanges};
use whyslow_model::syscall::Class;
use whyslow_model::{Measurement, Nanos, Severity, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "missing-timeout",
    group: "network",
    summary: "a call that waits for a peer has no limit of time, and the peer is silent",
    source: include_str!("missing_timeout.rs"),
    needs: &[Need::Clock, Need::Durations, Need::Descriptors, Need::Class(Class::Network)],
    check,
};

/// Answers from which on a peer is known to answer.
const ANSWERS: u64 = 3;
/// What those took at most: silence is then ten times as long.
const QUICK: Nanos = Nanos::from_secs(1);

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let mut found: Vec<(&Exchanges, &Endless, Nanos)> = Vec::new();
    // Which end asks is not known of a connection without a name: who waits may be asked.
    for row in facts.exchanges.rows.iter().filter(|row| row.is_named) {
        let waits = row.endless.iter().map(|wait| (wait, waited(facts, wait)));
        let longest = waits.filter(|(_, ns)| ns.is_known()).max_by_key(|(_, ns)| *ns);
        found.extend(longest.filter(|(_, ns)| *ns >= ExchangeFacts::LONG).map(|(wait, ns)| (row, wait, ns)));
    }
    found.sort_by_key(|(row, _, ns)| (!answers(row), std::cmp::Reverse(*ns)));
    let told: Vec<&str> = found.iter().map(|(row, ..)| &*row.peer).collect();
    hung::report(facts, out, &told);
    for (row, wait, waited) in found {
        let what = if wait.connects { "the connection" } else { "an answer" };
        let until = if wait.waited.is_known() { "" } else { ", and still did when the capture ended" };
        let share = guards::share_of_ns(facts, Some(wait.line.tid), waited, 1);
        // What was asked before the recording began is not in it: who waits all along may listen to what comes up.
        let is_all_along = wait.asleep.is_known();
        let known = wait.connects || answers(row) && !is_all_along;
        let before = match (wait.connects, row.single.count + row.split.count) {
            (true, _) => {
                " The kernel repeats its SYN for about two minutes before it gives up (tcp_syn_retries)."
                    .to_string()
            }
            _ if is_all_along => {
                " It waits since before the recording began, which does not show what it asked: a subscription, and an idle connection that is read all the time, wait like this by design."
                    .to_string()
            }
            (_, 0) => {
                " Whether it ever answers is not in the capture: a subscription waits like this by design."
                    .to_string()
            }
            (_, answers) => format!(" It answered {} before.", words::plural(answers, "time")),
        };
        let waited = Measurement::time("longest", waited).at_least(ExchangeFacts::LONG.or_zero() as f64);
        let mut answered = Measurement::count("answers", row.single.count + row.split.count);
        let mut longest_answer = Measurement::time(
            "longest_answer",
            Nanos::new(row.single.longest_other_ns.max(row.split.longest_other_ns)),
        );
        if answers(row) {
            answered = answered.at_least(ANSWERS as f64);
            longest_answer = longest_answer.at_most(QUICK.or_zero() as f64);
        }
        let has_answers = row.single.count + row.split.count > 0;
        let subject = Subject { peer: Some(row.peer.to_string()), ..Subjects::thread(facts, wait.line.tid) };
        let pid = subject.pid.map_or("PID".to_string(), |pid| pid.to_string());
        out.report(share, format!("thread {} waits {waited} for {what} of {} without a limit{until}", wait.line.tid, row.peer))
            .at_most(if known { Severity::Warning } else { Severity::Notice })
            .confidence(if known { 0.8 } else { 0.5 })
            .subject(subject)
            .cause(format!(
                "The call blocks until the peer says something, and nothing ends it if the peer is gone: no SO_RCVTIMEO, no poll with a timeout before it.{before}"
            ))
            .fix("code: a limit for connecting (1 to 3 s) and for each read: Python socket.settimeout / requests timeout=(3, 10), Java connectTimeout and SO_TIMEOUT, Go context.WithTimeout, libpq connect_timeout and tcp_user_timeout, C SO_RCVTIMEO or poll")
            .fix("the limit shorter than what the caller waits; after it close the connection, count it, try again with a pause")
            .fix("idle by design: SO_KEEPALIVE with TCP_KEEPIDLE 60, TCP_KEEPINTVL 10, TCP_KEEPCNT 3, and TCP_USER_TIMEOUT")
            .verify(format!("ss -tnoip | grep pid={pid}   (timer: none means that nothing watches the connection)"))
            .saving_text(format!("up to {waited} for each such request"))
            .measured(waited)
            .measured(answered)
            .measured_all(has_answers.then_some(longest_answer))
            .evidence(Some(&wait.line))
            .file();
    }
}

/// True where the peer answers requests, and soon.
#[gated]
fn answers(row: &Exchanges) -> bool {
    let quick = |longest: u64| longest <= QUICK.or_zero();
    row.single.count + row.split.count >= ANSWERS
        && quick(row.single.longest_other_ns)
        && quick(row.split.longest_other_ns)
}

/// How long the wait is; up to the capture's end where it did not end.
fn waited(facts: &Facts, wait: &Endless) -> Nanos {
    let seen = if wait.waited.is_known() { wait.waited } else { facts.window.end.since(wait.line.ts) };
    if wait.asleep.is_known() { seen.max(wait.asleep) } else { seen }
}
