//! # pool-exhausted
//!
//! ## What it is
//! All threads of a pool are held up by one thing at the same time: a peer that does not answer, a lock whose holder waits for
//! such a peer, a disk. Nobody is left for what comes next, and that waits in the queue, though it may want
//! nothing of that one thing.
//!
//! ## Why it is slow
//! The slow requests fill the pool, and then all requests are slow. Clients give up and ask again, which fills it more.
//!
//! ## Example
//! ```text
//! 101 futex(0x55d0c8a01040, FUTEX_WAIT_PRIVATE, 2, NULL <unfinished ...>
//! 102 futex(0x55d0c8a01040, FUTEX_WAIT_PRIVATE, 2, NULL <unfinished ...>
//! 103 futex(0x55d0c8a01040, FUTEX_WAIT_PRIVATE, 2, NULL <unfinished ...>
//! 104 recvfrom(5<TCP:[10.0.0.2:40000->10.0.0.7:6379]>, "$-1\r\n", 8192, 0, NULL, NULL) = 5 <2.200000>
//! ```
//!
//! ## What to do instead
//! Make the one thing faster, or wait for it for less: a time limit well below the clients'. Then keep the rest apart from it: a
//! pool or a limit of its own for what calls it (a bulkhead), an old answer while a new one is fetched, no lock held
//! across the call. A larger pool only helps where the one thing serves more at once.
//!
//! ## When it is wrong
//! Workers that wait for work are not held up: only the time within requests counts, and where requests cannot be seen (TLS),
//! waits for locks that others have, behind which a real wait stands. A pool that is briefly full under load is a notice. Two threads, or
//! workers that are processes of one program, are a pool only where connections wait to be accepted all the while: without that nobody
//! knows whether more work would come.

use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::guards::Share;
use crate::words;
use whyslow_chain::{Explainer, PathKind, PileUp};
use whyslow_facts::Facts;
use whyslow_model::{Measurement, Nanos, Severity, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "pool-exhausted",
    group: "waits",
    summary: "all threads of a pool are blocked by one thing at the same time",
    source: include_str!("pool_exhausted.rs"),
    needs: &[Need::Durations, Need::Clock],
    check,
};

/// Findings of this rule in one diagnosis.
const MOST: usize = 2;
/// A pool that is full for less than this, at a time, is busy: what waits outside hardly feels it.
const LONG: Nanos = Nanos::from_millis(500);
/// Held up in short pieces for this part of the time, a pool is exhausted all the same.
const MOSTLY: f64 = 0.5;
/// Shorter pile-ups in all are not told, ns: so long any two things may meet.
const SHORTEST_NS: u64 = 100_000_000;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let serves = facts.requests.count() > 0 || facts.graph.calls().any(|call| call.is_never_idle());
    if !serves {
        return;
    }
    let explainer = Explainer::new(facts);
    let piles = explainer.pile_ups().into_iter().filter(|pile| pile.ns >= SHORTEST_NS);
    for pile in piles.take(MOST) {
        report(&explainer, out, &pile);
    }
}

#[gated]
fn report(explainer: &Explainer<'_>, out: &mut Findings<'_>, pile: &PileUp) {
    let facts = explainer.facts();
    let at_work = pile.at_work.get().filter(|ns| *ns > 0);
    let share = Share::of_time(
        at_work.map(|ns| (pile.ns as f64 / ns as f64).min(1.0)),
        "the time from the first to the last work of its threads",
    );
    let path = explainer.path(pile.span.tid, pile.span.from, pile.span.to);
    let is_it = |segment: &&whyslow_chain::Segment<'_>| {
        segment.kind == pile.kind && segment.call.is_some_and(|call| explainer.piled_on(call) == pile.what)
    };
    let Some(root) = path.segments.iter().filter(is_it).max_by_key(|segment| (segment.ns, segment.from))
    else {
        return;
    };
    let links = explainer.chain_to(&path, root);
    let subject = Subject {
        peer: (pile.kind == PathKind::Peer).then(|| pile.what.clone()),
        lock: links
            .len()
            .checked_sub(2)
            .and_then(|_| path.stays[root.stay].came_from?.1?.lock())
            .map(|at| format!("{at:#x}")),
        ..Subjects::thread(facts, pile.span.tid)
    };
    let part = share.value;
    let pid = subject.pid.map_or("PID".to_string(), |pid| pid.to_string());
    let waits = explainer.who(path.stays[root.stay].tid);
    let peak = Measurement::count("workers_held_up", pile.peak as u64);
    let time = Measurement::time("time", Nanos::new(pile.ns));
    let longest = Measurement::time("longest", pile.longest);
    let saving = format!("{time} in which the pool serves nobody");
    let in_hand = if pile.serving { "serve requests" } else { "have work in hand" };
    let mut found = out
        .report(
            share,
            format!(
                "{peak} of {} are held up by {} at once, for {time}",
                words::plural(pile.pool as u64, "worker"),
                pile.what,
            ),
        )
        .at_most(match part {
            _ if pile.longest >= LONG => Severity::Critical,
            Some(MOSTLY..) => Severity::Warning,
            _ => Severity::Notice,
        })
        .subject(subject)
        .cause(format!(
            "Of {} that {in_hand}, {peak} wait for one thing at the same time: {}. The longest such time began at {} and lasted {longest}; \
             the wait at its root is that of {waits}. Who comes meanwhile finds nobody free.",
            words::plural(pile.pool as u64, "thread"),
            pile.what,
            pile.since.time_of_day(),
        ))
        .measured(peak)
        .measured(Measurement::count("workers", pile.pool as u64))
        .measured(time.at_least(SHORTEST_NS as f64))
        .measured(longest)
        .fix(match pile.kind {
            PathKind::Peer => format!("code: a time limit on calls to {}, well below the clients' own; a circuit breaker behind it", pile.what),
            PathKind::Lock => format!("code: hold {} for less: no I/O and no calls to others under it", pile.what),
            _ => format!("make the wait for {} shorter, or take it out of what requests wait for", pile.what),
        })
        .fix("code: keep apart what does not need it: a pool or a limit of its own for such calls, an old answer while a new one is fetched")
        .fix("settings: more workers only where that one thing serves more at once; a shorter queue, so that clients are told early")
        .fix(format!("see the whole chain: whyslow path --thread {} FILE", pile.span.tid))
        .verify(format!("jstack {pid} (Java), py-spy dump -p {pid} (Python), gdb -p {pid} -batch -ex 'thread apply all bt': most workers stand in one place; ss -ltn: Recv-Q of the listening port grows"))
        .saving_text(saving);
    for link in links {
        if !link.evidence.is_empty() {
            found = found.evidence_line(
                link.evidence.clone(),
                format!("{} waits {} for {}", link.who, link.ns, link.waits_for),
            );
        }
        found = found.link(link);
    }
    found.file();
}
