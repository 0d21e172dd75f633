//! Who waits for whom: the long waits, added up by who waits, for whom or what; and which of them are on the path of what was asked about.

use crate::data::{PageState, PageWait};
use crate::texts::Texts;
use crate::threads::Threads;
use hashbrown::{HashMap, HashSet};
use std::cmp::Reverse;
use whyslow_account::{WorkWaits, state_of_call};
use whyslow_chain::Explainer;
use whyslow_facts::Facts;
use whyslow_facts::folds::account::CallKey;
use whyslow_facts::folds::graph::LongCall;
use whyslow_facts::folds::requests::Side;
use whyslow_model::{Tid, Timestamp};

/// Requests whose paths are followed: the longest.
const MAX_PATHS: usize = 200;

/// From whom, to whom, for what, in which state.
type Edge = (Tid, Option<Tid>, Option<String>, PageState);

/// The edges, the longest first, `most` at most. Tells how many are left out.
pub(crate) fn waits(
    facts: &Facts,
    threads: &Threads,
    work: &WorkWaits,
    most: usize,
    texts: &mut Texts,
) -> (Vec<PageWait>, usize) {
    let mut edges: HashMap<Edge, (u64, u64)> = HashMap::new();
    let mut critical: HashSet<Edge> = HashSet::new();
    for of in [Some(facts), facts.followed.apart()].into_iter().flatten() {
        for call in of.graph.calls() {
            if let (Some(edge), Some(ns)) = (edge(of, call, work), call.dur().get()) {
                let (sum, count) = edges.entry(edge).or_default();
                *sum = sum.saturating_add(ns);
                *count += 1;
            }
        }
    }
    on_the_path(facts, work, &mut critical);
    let mut edges: Vec<(Edge, (u64, u64))> = edges.into_iter().collect();
    edges.sort_by(|(a, (a_ns, _)), (b, (b_ns, _))| {
        let rank = |edge: &Edge, ns: u64| (!critical.contains(edge), Reverse(ns));
        rank(a, *a_ns).cmp(&rank(b, *b_ns)).then_with(|| a.cmp(b))
    });
    let mut left_out = 0;
    let mut out = Vec::new();
    for (edge, (ns, count)) in edges {
        let critical = critical.contains(&edge);
        let (from, to, object, state) = edge;
        let to_place = to.and_then(|to| threads.place(to));
        match threads.place(from).filter(|_| out.len() < most && to.is_some() == to_place.is_some()) {
            Some(from) => out.push(PageWait {
                from,
                to: to_place,
                object: object.map(|object| texts.id(&object)),
                state: state as u8,
                ns,
                count,
                critical,
            }),
            None => left_out += 1,
        }
    }
    (out, left_out)
}

/// The edge of a long call that waits; `None` for work.
fn edge(facts: &Facts, call: &LongCall, work: &WorkWaits) -> Option<Edge> {
    let object = facts.accounts.objects.get(call.object);
    let key = CallKey { syscall: call.syscall, waits: call.waits, object: call.object };
    let state = state_of_call(key, object.kind, call.dur());
    let state = PageState::of(state, work.is_for_work(call.tid, state));
    if matches!(state, PageState::InCall | PageState::Unknown) {
        return None;
    }
    let name = Some(object.name()).filter(|name| !name.is_empty()).map(str::to_string);
    let to = call.waker.map(|waker| waker.tid).filter(|tid| *tid != call.tid);
    let name = name.or_else(|| to.is_none().then(|| facts.name_of(call.syscall).to_string()));
    Some((call.tid, to, name, state))
}

/// The edges on the critical paths of the requests that are served, else of the commands.
fn on_the_path(facts: &Facts, work: &WorkWaits, critical: &mut HashSet<Edge>) {
    let explainer = Explainer::new(facts);
    let served = facts.requests.records().filter(|one| one.side == Side::Server && one.dur.is_known());
    let mut spans: Vec<(Tid, Timestamp, Timestamp)> =
        served.map(|one| (one.answered_by.unwrap_or(one.tid), one.begin, one.begin.plus(one.dur))).collect();
    if spans.is_empty() {
        let roots = facts.world.threads.processes();
        let roots = roots.filter(|(_, process)| process.started && process.parent.is_none());
        spans = roots
            .filter_map(|(_, process)| {
                let (from, to) = explainer.span(process.pid?)?;
                Some((process.pid?, from, to))
            })
            .collect();
    }
    spans.sort_by_key(|(tid, from, to)| (Reverse(to.since(*from)), *tid));
    for (tid, from, to) in spans.into_iter().take(MAX_PATHS) {
        let path = explainer.path(tid, from, to);
        let ways = path.stays.iter().filter_map(|stay| stay.came_from?.1);
        let ends = path.segments.iter().filter_map(|segment| segment.call);
        critical.extend(ways.chain(ends).filter_map(|call| edge(facts, call, work)));
    }
}
