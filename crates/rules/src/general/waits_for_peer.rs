//! # waits-for-peer
//!
//! ## What it is
//! The program waits for the other end of a connection, and no rule with a remedy explains that time: the protocol is not
//! known, the waits are few, or they are not slow one by one.
//!
//! ## Why it is slow
//! Nothing of this time is the program's own. It ends when the other end answers, or reads what it was sent.
//!
//! ## Example
//! ```text
//! recvfrom(7, "\x02\x31\x00"..., 8192, 0, NULL, NULL) = 512 <0.310000>
//! ```
//!
//! ## What to do instead
//! Look at what the other end does meanwhile: record it too (`whyslow record -p PID` on its host). Ask it less often, for
//! less, or for several things at once; answer from a cache what does not change.
//!
//! ## When it is wrong
//! Waits of 5 ms and more for what a server sends, which take a quarter of the time, are a finding of `slow-downstream` instead,
//! unless nothing was sent to that server in all the time: a feed sets its own pace.
//! It is a notice: it says where the time went, not that this is too much. The other end may be a client that has nothing
//! to ask, where the recording does not tell who opened the connection. A poll of several descriptors may wait for a pipe
//! or a timer as well.

use super::unclaimed::Unclaimed;
use crate::engine::{Findings, Need, Rule};
use crate::gate::gated;
use crate::network::asked::{LATE, SLOW};
use crate::network::slow_peers::NEWS;
use whyslow_facts::Facts;
use whyslow_facts::folds::requests::Side;
use whyslow_model::syscall::Moves;
use whyslow_model::{AccountRow, Measurement, Severity, Subject, Syscall, TimeState};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "waits-for-peer",
    group: "general",
    summary: "what no other rule explains is waiting for the other end of a connection",
    source: include_str!("waits_for_peer.rs"),
    needs: &[Need::Unclaimed(&[TimeState::Peer, TimeState::Client, TimeState::Poll])],
    check,
};

/// The rule that is about late answers.
const SLOW_DOWNSTREAM: &str = "slow-downstream";
/// Calls from which on a wait is a habit.
const FEW: u64 = 5;
/// From this part of the time on late answers are a cause: as long as all else that nothing explains is as much, they are one part of it.
const MUCH: f64 = 0.25;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let Some(unclaimed) = Unclaimed::of(out) else { return };
    let largest = unclaimed.largest();
    if waits_for_answers(&unclaimed) && !is_judged(facts, out, largest) && !is_unasked(facts, largest) {
        return late_answers(&unclaimed, out);
    }
    unclaimed.report(out)
        .cause(match unclaimed.object() {
        Some(peer) => format!("It does nothing while it waits: the time is that of {peer}, or of the network between."),
        None => "It does nothing while it waits: the time is that of the other end, or of the network between.".to_string(),
    })
        .fix(format!("record the other end at the same time, and look at what it does: whyslow record -p {}", unclaimed.object().and_then(number).unwrap_or("PID")))
        .fix("ask less often, for less, or for several things at once (batch, pipeline, several connections)")
        .verify("whyslow peers RECORDING   (after: less time waited for it)")
        .file();
}

/// True where the largest part is waits for what a server sends: each of them long, and not as long as those for news.
#[gated]
fn waits_for_answers(unclaimed: &Unclaimed<'_>) -> bool {
    let row = unclaimed.largest();
    let call = row.call.as_deref().and_then(|name| Syscall::lookup(name.as_bytes()));
    let takes = call.is_some_and(|call| call.info().moves != Moves::Write && call != Syscall::CONNECT);
    let is_habit = row.count.is_none_or(|count| count >= FEW);
    let (each, (share, _)) = (unclaimed.each(), unclaimed.part());
    let is_late = each >= SLOW && each.is_known() && (each < NEWS || unclaimed.is_of_requests());
    let is_server = unclaimed.is_of_requests() || row.object.as_deref().is_some_and(is_address);
    row.state == TimeState::Peer
        && takes
        && is_habit
        && is_late
        && is_server
        && share.value.is_some_and(|share| share >= MUCH)
}

/// True where the answers were seen as such, and `slow-downstream` has judged them.
#[gated]
fn is_judged(facts: &Facts, out: &Findings<'_>, row: &AccountRow) -> bool {
    let claimed =
        || out.account().into_iter().flat_map(|account| &account.rows).flat_map(|row| &row.claimed_by);
    let object = row.object.as_deref().unwrap_or_default();
    let answers = facts.peers.servers().filter(|peer| object.contains(&*peer.name));
    // What has no name is one of those that have none.
    let unnamed = facts
        .requests
        .endpoints()
        .iter()
        .filter(|asked| asked.side == Side::Client && asked.peer.is_none() && !is_address(object));
    let times = answers.map(|peer| peer.answers.total_ns).chain(unnamed.map(|asked| asked.stats.total_ns));
    let seen = times.fold(0, u64::saturating_add);
    // Waits that are no part of an answer's time, as those behind its first bytes, were not judged.
    claimed().any(|claim| claim.id == SLOW_DOWNSTREAM) || seen >= row.ns / 2
}

/// True where nothing was sent to the peer in all the time: a feed, whose sender sets the pace. Calls that were only counted tell no bytes.
#[gated]
fn is_unasked(facts: &Facts, row: &AccountRow) -> bool {
    let object = row.object.as_deref().unwrap_or_default();
    let mut peers = facts.peers.by_process().filter(|peer| object.contains(&*peer.name)).peekable();
    facts.world.counted == 0
        && peers.peek().is_some()
        && peers.all(|peer| peer.sent == 0 && peer.received > 0)
}

/// `10.0.0.7:6379`, `scorer (910, 127.0.0.1:7410)`, `/run/x.sock`.
fn is_address(object: &str) -> bool {
    let port = object.trim_end_matches(')').rsplit_once(':').map_or("", |(_, port)| port);
    object.starts_with(['/', '@']) || !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit())
}

/// The process's number in `scorer (910, 127.0.0.1:7410)`.
fn number(object: &str) -> Option<&str> {
    let (_, inner) = object.rsplit_once(" (")?;
    let (number, _) = inner.split_once(", ")?;
    number.bytes().all(|byte| byte.is_ascii_digit()).then_some(number).filter(|number| !number.is_empty())
}

/// The finding of `slow-downstream` on waits in whose bytes no protocol shows requests.
#[gated]
fn late_answers(unclaimed: &Unclaimed<'_>, out: &mut Findings<'_>) {
    let row = unclaimed.largest();
    let (share, whose) = unclaimed.part();
    let part = share.figure().at_least(MUCH);
    let each = Measurement::time("time_each", unclaimed.each()).at_least(SLOW.or_zero() as f64);
    let peer = row.object.clone().unwrap_or_else(|| "another server".to_string());
    let is_named = is_address(&peer);
    let of_what = if unclaimed.is_of_requests() { "request" } else { "call" };
    let title = format!("{peer} takes {part} of {whose}: {} waits {each} in each {of_what}", row.who);
    let is_felt = unclaimed.each() >= LATE;
    let subject = unclaimed.subject();
    let pid = subject.pid.map_or("PID".to_string(), |pid| pid.to_string());
    let fd_or_peer = subject.peer.clone().filter(|_| is_named);
    out.report(share, title)
        .under(SLOW_DOWNSTREAM)
        .at_most(if is_felt { Severity::Warning } else { Severity::Notice })
        .measured(part)
        .measured(each)
        .measured_all(unclaimed.count())
        .measured(Measurement::time("time", unclaimed.time()))
        .measured_all(row.count.map(|count| Measurement::count("waits", count)))
        .subject(Subject { peer: fd_or_peer, ..subject })
        .cause(format!("It does nothing while it waits: the time is that of {peer}, or of the network between. What is asked is not recognised: the protocol is not known, or its first bytes were not seen."))
        .fix(format!("record the other end at the same time, and look at what it does: whyslow record -p {}", unclaimed.object().and_then(number).unwrap_or("PID")))
        .fix("ask less often, for less, or for several things at once (batch, pipeline, several connections)")
        .verify(format!("whyslow peers -p {pid} -d 10s   (after: less time waited for it)"))
        .evidence_lines(row.evidence.clone())
        .file();
}
