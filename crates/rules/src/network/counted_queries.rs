//! Queries that are asked in a loop, by calls that were only counted: how often a process asks a service for each answer that it gives itself.

use super::asked;
use crate::engine::{Findings, Subjects};
use crate::gate::gated;
use crate::guards::{self, Share};
use crate::words;
use whyslow_facts::folds::peers::{CountedPeer, Role};
use whyslow_facts::{Facts, ProcessId};
use whyslow_model::{Measurement, Nanos, Severity, Subject};

/// A question of a handful of keys is shorter, bytes; what is longer is data that is handed on.
const SHORT: u64 = 4096;

/// Reports them, the costliest first, at most so many; false where there is none.
#[gated]
pub(super) fn check(facts: &Facts, out: &mut Findings<'_>, many: f64, most: usize) -> bool {
    let servers = facts.peers.counted.iter().filter(|peer| peer.role == Role::Server);
    let mut loops: Vec<(&CountedPeer, u64, u64)> = servers
        .filter_map(|peer| Some((peer, peer.turns()?, answered(facts, peer.process))))
        .filter(|(peer, turns, answers)| {
            *answers > 0
                && *turns >= guards::few_calls(facts)
                && *turns as f64 / *answers as f64 >= many
                && peer.used.writes.bytes / peer.used.writes.succeeded().max(1) <= SHORT
        })
        .collect();
    loops.sort_by_key(|(peer, ..)| std::cmp::Reverse(peer.used.total_ns()));
    for (peer, turns, answers) in loops.iter().take(most) {
        report(facts, out, peer, (*turns, *answers), many);
    }
    !loops.is_empty()
}

/// Answers that a process gives at most: each needs a write to a client.
fn answered(facts: &Facts, process: ProcessId) -> u64 {
    let clients =
        facts.peers.counted.iter().filter(|peer| peer.role == Role::Client && peer.process == process);
    clients.map(|peer| peer.used.writes.succeeded()).fold(0, u64::saturating_add)
}

fn report(
    facts: &Facts,
    out: &mut Findings<'_>,
    peer: &CountedPeer,
    (turns, answers): (u64, u64),
    many: f64,
) {
    let waited = facts
        .peers
        .by_process()
        .filter(|row| row.role == Role::Server && row.process == Some(peer.process) && row.name == peer.name);
    let waited = waited.map(|row| row.wait_ns).fold(0, u64::saturating_add);
    let spent = peer.used.total_ns().saturating_add(waited);
    let share: Share = asked::share(facts, peer.only_thread(), spent, turns);
    let each = Measurement::number("round_trips_per_request", turns as f64 / answers as f64).at_least(many);
    let mean = Measurement::bytes(
        "bytes_per_question",
        peer.used.writes.bytes / peer.used.writes.succeeded().max(1),
    );
    let who = asked::asker(facts, Some(peer.process));
    let title = format!("{who} asks {} {each} times for each answer that it gives", peer.name);
    out.report(share, title)
        .at_most(Severity::Warning)
        .measured(each)
        .measured(Measurement::count("round_trips", turns).at_least(guards::few_calls(facts) as f64))
        .measured(Measurement::count("requests", answers))
        .measured(mean.clone().at_most(SHORT as f64))
        .measured(Measurement::time("time", Nanos::new(spent)))
        .subject(Subject { peer: Some(peer.name.to_string()), ..Subjects::thread(facts, peer.tid) })
        .cause(format!(
            "It sent {} of {mean} on average to {}, one behind the other, and {} to its clients: a round trip for each item. Calls \
             were only counted, so what is asked is not seen.",
            words::plural(turns, "message"),
            peer.name,
            words::plural(answers, "answer"),
        ))
        .fix("ask for all items at once: one question that takes a list (IN (…), MGET, an endpoint that takes a list); or send all questions before the first answer is needed (pipelining)")
        .fix("code: find the loop around the query; mappers load on access (lazy loading): load with the first query (select_related, includes, JOIN FETCH, a data loader)")
        .verify("whyslow requests -p PID -d 10s   (what is asked, each time)")
        .file();
}
