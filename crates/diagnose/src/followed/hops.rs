//! The way to who is behind a wait, process by process: which thread of each waits, for what, where in its code and how long.

use super::Kind;
use super::behind::{self, Behind};
use whyslow_facts::Facts;
use whyslow_facts::folds::requests::Side;
use whyslow_model::figures as words;
use whyslow_model::ids::tid_there;
use whyslow_model::{AccountRow, ChainLink, Finding, Followed, Hop, Nanos, TimeAccount};

/// The process of the target that waits, those on the way, and the last one.
pub(super) fn hops(
    facts: &Facts,
    account: Option<&TimeAccount>,
    apart: &Facts,
    finding: &Finding,
    (rows, way): (&[Followed], &[&Followed]),
    behind: &Behind<'_>,
) -> Vec<Hop> {
    let Some(first) = way.first() else { return Vec::new() };
    let claimed = |row: &&AccountRow| row.claimed_by.iter().any(|claim| claim.id == finding.id);
    let own = account.and_then(|account| {
        waiting(account.rows.iter().filter(claimed), first).or_else(|| waiting(account.rows.iter(), first))
    });
    let name = super::name_of(facts, first.waiter).or_else(|| finding.subject.comm.clone());
    let mut hops = vec![hop(
        facts,
        (first.waiter, name.unwrap_or_else(|| "process".to_string())),
        own,
        Some(first),
        first.share,
    )];
    let between = way.windows(2).map(|pair| {
        let (one, next) = (pair[0], pair[1]);
        // Of those that stand for one another, the one that was seen to wait longest.
        let alike = rows.iter().filter(|row| super::are_alike(row, one));
        let hops = alike.map(|row| {
            let process = apart.world.threads.last_process(row.pid);
            let account = process.and_then(|process| behind::account_of(apart, process));
            let waits = account.as_ref().and_then(|account| waiting(account.rows.iter(), next));
            let new = hop(apart, (row.pid, row.comm.clone()), waits, Some(next), row.share);
            // Who waits for a client does so in all the time that is not its own.
            let idle_ns = account.as_ref().map_or(0, |account| account.idle_ns);
            let is_unknown = !new.ns.is_known() && idle_ns > 0;
            Hop { ns: if is_unknown { Nanos::new(idle_ns) } else { new.ns }, ..new }
        });
        hops.max_by_key(|hop| (hop.state.is_some(), hop.ns))
    });
    hops.extend(between.flatten());
    let last = behind.row;
    let (function, place) = behind.site();
    let own = hop(apart, (last.pid, last.comm.clone()), Some(behind.largest()), None, last.share);
    hops.push(Hop { function, place, ..own });
    hops
}

/// Of these rows the one that waits for that process: at its place, else the largest of that kind.
fn waiting<'r>(rows: impl Iterator<Item = &'r AccountRow>, next: &Followed) -> Option<&'r AccountRow> {
    let kind = Kind::of(&next.via);
    let place = Kind::place(&next.via);
    let rows: Vec<&AccountRow> = rows.filter(|row| kind.states().contains(&row.state)).collect();
    let is_there = |row: &&&AccountRow| {
        !place.is_empty() && row.object.as_ref().is_some_and(|object| object.contains(place))
    };
    let largest = |rows: &mut dyn Iterator<Item = &&'r AccountRow>| rows.max_by_key(|row| row.ns).copied();
    largest(&mut rows.iter().filter(is_there))
        .or_else(|| largest(&mut rows.iter().filter(|row| kind.is_plainly(row.state))))
        .or_else(|| largest(&mut rows.iter()))
}

/// One process: by the row of its account, where it has one; requests to a peer are timed also where an event loop waits for all at once.
fn hop(
    facts: &Facts,
    (pid, name): (u32, String),
    row: Option<&AccountRow>,
    next: Option<&Followed>,
    share: f64,
) -> Hop {
    let tid = row.and_then(|row| row.tid);
    let thread = tid.and_then(|tid| facts.world.threads.thread_of(tid)?.comm.as_deref());
    let asked = next.filter(|next| Kind::of(&next.via) == Kind::Peer).and_then(|next| {
        let mut peers = facts.requests.peers();
        peers
            .find(|(side, peer, _)| *side == Side::Client && Some(&**peer) == next.via.place())
            .map(|(.., told)| &told.stats)
    });
    let (count, mean_ns) = match asked.filter(|stats| stats.timed > 0) {
        Some(stats) => (Some(stats.count), stats.mean()),
        None => (row.and_then(|row| row.count), row.map_or(Nanos::UNKNOWN, |row| row.mean_ns)),
    };
    // Of an event loop only the sum of its requests tells.
    let waited = asked.filter(|stats| stats.timed > 0).map_or(0, |stats| stats.total().or_zero());
    let ns = row.map_or(0, |row| row.ns);
    let ns = if ns < waited / 2 { waited } else { ns };
    Hop {
        pid: tid_there(pid),
        tid: tid.map(tid_there),
        thread: thread.filter(|thread| **thread != *name).map(str::to_string),
        threads: row.map(|row| row.threads),
        name,
        state: row.map(|row| row.state),
        call: row.and_then(|row| row.call.clone()),
        object: next.map(|next| next.via.to_string()).or_else(|| row?.object.clone()),
        function: row.and_then(|row| row.function.clone()),
        place: row.and_then(|row| row.place.clone()),
        ns: if ns > 0 { Nanos::new(ns) } else { Nanos::UNKNOWN },
        count,
        mean_ns,
        share,
    }
}

/// The links from the target, or from the end of the chain that the finding has, to the last one.
pub(super) fn links(
    finding: &Finding,
    way: &[&Followed],
    hops: &[Hop],
    behind: &Behind<'_>,
) -> Vec<ChainLink> {
    let known = usize::from(!finding.chain.is_empty());
    // A recorder looks some times a second; captures have each wait.
    let by = if behind.facts.capture.is_recording() { ", by samples" } else { "" };
    let waits = hops.windows(2).zip(way).skip(known).map(|(pair, next)| {
        let (hop, other) = (&pair[0], &pair[1]);
        let call = hop.call.as_ref().map_or(String::new(), |call| format!(" in {call}"));
        let site = hop.site().map_or(String::new(), |site| format!(", in {site}"));
        let times = match (hop.count, hop.mean_ns.is_known()) {
            (Some(count), true) => format!("{}, {} each; ", words::plural(count, "time"), hop.mean_ns),
            _ => String::new(),
        };
        ChainLink {
            who: hop.who(),
            waits_for: format!("{} ({}) at {}{call}{site}", other.name, other.pid, next.via),
            ns: hop.ns,
            evidence: format!("{times}{} of the target's waiting{by}", words::percent(next.share)),
        }
    });
    let largest = behind.largest();
    let last = hops.last().map(|last| {
        let site = last.site().filter(|_| largest.site().is_none());
        let site = site.map_or(String::new(), |site| format!(", in {site}"));
        ChainLink {
            who: last.who(),
            waits_for: match &largest.object {
                Some(object) => {
                    let site = last.site().map_or(String::new(), |site| format!(", in {site}"));
                    let call = largest.call.as_ref().map_or(String::new(), |call| format!(" in {call}"));
                    format!("{object}{call}{site}")
                }
                None => match largest.words().strip_prefix("waits for ") {
                    Some(what) => format!("{}{site}", what.split(" (").next().unwrap_or(what)),
                    None => format!("nothing: it {}{site}", largest.words()),
                },
            },
            ns: Nanos::new(largest.ns),
            evidence: largest.evidence.as_ref().map_or(String::new(), |line| line.source.clone()),
        }
    });
    waits.chain(last).collect()
}
