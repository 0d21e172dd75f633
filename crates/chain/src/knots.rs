//! Knots: threads that wait for each other and for nothing else.
//!
//! As wPerf finds them (Zhou et al., OSDI 2018): threads are the nodes, and an edge leads from each one to those that ended
//! its waits. A strongly connected set that no edge leaves cannot be made faster from outside: who is in it must change.
//! Left out beforehand is what is idle: a wait counts where the thread has work in hand (it wants a lock that another has,
//! or room to write), or where it lies on the path of what counts.

use super::{Explainer, Path, PathKind, kind};
use hashbrown::{HashMap, HashSet};
use whyslow_facts::ThreadId;
use whyslow_facts::folds::graph::{LongCall, Resource};
use whyslow_model::event::Tid;
use whyslow_model::figures as words;
use whyslow_model::{Nanos, SaturatingSum, Timestamp};

/// Edges below this part of a thread's largest one are left out, as are threads that wait for less than this part of
/// their time: chance meetings would tie everything together.
const TRIM: f64 = 0.05;
/// Knots told, the largest first.
const MAX_KNOTS: usize = 8;
/// Members and places named in words.
const NAMED: usize = 4;

/// Threads that wait only for each other.
#[derive(Clone, Debug)]
pub struct Knot {
    /// The threads, in order of their numbers.
    pub members: Vec<Tid>,
    /// Time that they wait for each other, together, ns.
    pub ns: u64,
    /// Their time together, without what they idle, ns.
    pub of_ns: u64,
    /// Through what, with the time of each, ns, the largest first.
    pub through: Vec<(String, u64)>,
    /// The addresses of the locks among that.
    pub locks: Vec<u64>,
}

impl Knot {
    /// Which part of their time they wait for each other.
    pub fn share(&self) -> f64 {
        self.ns as f64 / self.of_ns.max(1) as f64
    }

    /// `threads 1, 2 and 3 wait for each other 82 % of the time (2.46 s) through futex 0x10 and a pipe`.
    pub fn words(&self) -> String {
        let names: Vec<String> = self.members.iter().map(Tid::to_string).collect();
        let through: Vec<String> = self.through.iter().map(|(what, _)| what.clone()).collect();
        format!(
            "threads {} wait for each other {} of their time ({}), and for nothing else, through {}",
            words::list(&names, NAMED),
            words::percent(self.share()),
            Nanos::new(self.ns),
            words::list(&through, NAMED)
        )
    }
}

/// What one thread waits for: others, and what is no thread of the capture.
#[derive(Default)]
struct Waits {
    edges: HashMap<ThreadId, u64>,
    outside: u64,
    idle: u64,
}

/// What an edge goes through: the process's own resources are told apart.
type Place = (whyslow_facts::ProcessId, Resource);

/// Time by what each pair of threads waits through, with one of the waits.
type Through<'a> = HashMap<(ThreadId, ThreadId), HashMap<Place, (u64, &'a LongCall)>>;

/// Collects the paths of what counts; then finds the knots.
pub struct KnotFinder<'e, 'a> {
    explainer: &'e Explainer<'a>,
    /// The waits that lie on those paths.
    counts: HashSet<(Tid, Timestamp)>,
}

impl<'e, 'a> KnotFinder<'e, 'a> {
    /// Without a path yet.
    pub fn new(explainer: &'e Explainer<'a>) -> Self {
        KnotFinder { explainer, counts: HashSet::new() }
    }

    /// What lies on this path is not idle.
    pub fn see(&mut self, path: &Path<'a>) {
        let led = path.stays.iter().filter_map(|stay| stay.came_from?.1);
        let ended = path.segments.iter().filter_map(|segment| segment.call);
        self.counts.extend(led.chain(ended).map(|call| (call.tid, call.from)));
    }

    /// The knots, the largest first.
    pub fn knots(&self) -> Vec<Knot> {
        let mut graph: HashMap<ThreadId, Waits> = HashMap::new();
        let mut through: Through<'a> = HashMap::new();
        for call in self.explainer.facts.graph.calls() {
            let Some(thread) = self.explainer.thread_at(call.tid, call.from) else { continue };
            let counts = call.is_never_idle() || self.counts.contains(&(call.tid, call.from));
            let ns = call.dur().or_zero();
            let waits = graph.entry(thread).or_default();
            if call.waits.is_none() {
                waits.outside += if kind::of_work(call) == PathKind::Disk { ns } else { 0 };
                continue;
            }
            let waker = call.waker.filter(|waker| waker.tid != call.tid);
            let other = waker.and_then(|waker| self.explainer.thread_at(waker.tid, waker.ts));
            match other {
                _ if !counts && may_be_idle(call) => waits.idle = waits.idle.saturating_add(ns),
                // It may be what a lock is held for: then they wait for something else too.
                _ if !counts => waits.outside = waits.outside.saturating_add(ns),
                Some(other) if other != thread => {
                    let sum: &mut u64 = waits.edges.entry(other).or_default();
                    *sum = sum.saturating_add(ns);
                    let place = (call.process, call.what);
                    let through =
                        through.entry((thread, other)).or_default().entry(place).or_insert((0, call));
                    through.0 = u64::saturating_add(through.0, ns);
                }
                _ => waits.outside = waits.outside.saturating_add(ns),
            }
        }
        let mut nodes: Vec<ThreadId> = graph.keys().copied().collect();
        nodes.sort_unstable();
        let links = nodes.iter().map(|node| self.kept(&nodes, *node, &graph[node])).collect::<Vec<_>>();
        let mut knots: Vec<Knot> = closed_sets(&links)
            .into_iter()
            .filter(|set| set.iter().all(|at| !links[*at].leaves))
            .map(|set| {
                let members: Vec<ThreadId> = set.into_iter().map(|at| nodes[at]).collect();
                self.knot(&members, &graph, &through)
            })
            .collect();
        knots.sort_by(|a, b| (b.ns, &a.members).cmp(&(a.ns, &b.members)));
        knots.truncate(MAX_KNOTS);
        knots
    }

    fn busy(&self, node: ThreadId, waits: &Waits) -> u64 {
        let thread = self.explainer.facts.world.threads.thread(node);
        thread.last.since(thread.first).or_zero().saturating_sub(waits.idle).max(1)
    }

    /// The edges of a thread that are worth following, as places in `nodes`.
    fn kept(&self, nodes: &[ThreadId], node: ThreadId, waits: &Waits) -> Links {
        let all = waits.edges.values().copied().chain([waits.outside]).saturating_sum();
        let largest = waits.edges.values().copied().max().unwrap_or(0).max(waits.outside);
        if (all as f64) < TRIM * self.busy(node, waits) as f64 {
            return Links { to: Vec::new(), leaves: true };
        }
        let worth = |ns: u64| ns > 0 && ns as f64 >= TRIM * largest as f64;
        let mut leaves = worth(waits.outside);
        let mut to = Vec::new();
        for (other, _) in waits.edges.iter().filter(|(_, ns)| worth(**ns)) {
            match nodes.binary_search(other) {
                Ok(at) => to.push(at),
                // That one never waits.
                Err(_) => leaves = true,
            }
        }
        to.sort_unstable();
        Links { to, leaves }
    }

    fn knot(&self, members: &[ThreadId], graph: &HashMap<ThreadId, Waits>, through: &Through<'a>) -> Knot {
        let mut sums: HashMap<String, u64> = HashMap::new();
        let mut locks: Vec<u64> = Vec::new();
        let (mut ns, mut of_ns) = (0, 0);
        for node in members {
            let waits = &graph[node];
            of_ns += self.busy(*node, waits);
            for other in waits.edges.keys().filter(|other| members.binary_search(other).is_ok()) {
                for (part, call) in through.get(&(*node, *other)).into_iter().flat_map(HashMap::values) {
                    ns += part;
                    *sums.entry(self.explainer.resource(call)).or_default() += part;
                    locks.extend(call.lock());
                }
            }
        }
        let mut through: Vec<(String, u64)> = sums.into_iter().collect();
        through.sort_by(|a, b| (b.1, &a.0).cmp(&(a.1, &b.0)));
        locks.sort_unstable();
        locks.dedup();
        let tid = |node: &ThreadId| self.explainer.facts.world.threads.thread(*node).tid;
        let mut members: Vec<Tid> = members.iter().map(tid).collect();
        members.sort_unstable();
        Knot { members, ns: ns.min(of_ns), of_ns, through, locks }
    }
}

/// Conditions, polls and new clients: off the path of what counts, that is waiting for work.
fn may_be_idle(call: &LongCall) -> bool {
    matches!(call.what, Resource::Lock { .. })
        || matches!(kind::of_wait(call), PathKind::Idle | PathKind::Poll)
}

/// The edges of one thread.
struct Links {
    to: Vec<usize>,
    /// It also waits for what is no thread, or hardly waits at all.
    leaves: bool,
}

/// The strongly connected sets of two and more nodes that no edge leaves: Tarjan's algorithm (1972), without recursion.
fn closed_sets(links: &[Links]) -> Vec<Vec<usize>> {
    const NONE: usize = usize::MAX;
    let mut number = vec![NONE; links.len()];
    let mut low = vec![0; links.len()];
    let mut set_of = vec![NONE; links.len()];
    let (mut next, mut sets) = (0, 0);
    let (mut stack, mut way): (Vec<usize>, Vec<(usize, usize)>) = (Vec::new(), Vec::new());
    let mut closed = Vec::new();
    for root in 0..links.len() {
        if number[root] != NONE {
            continue;
        }
        way.push((root, 0));
        while let Some((node, edge)) = way.last_mut() {
            let node = *node;
            if *edge == 0 {
                (number[node], low[node]) = (next, next);
                next += 1;
                stack.push(node);
            }
            match links[node].to.get(*edge) {
                Some(&to) => {
                    *edge += 1;
                    if number[to] == NONE {
                        way.push((to, 0));
                    } else if set_of[to] == NONE {
                        low[node] = low[node].min(number[to]);
                    }
                }
                None => {
                    way.pop();
                    if let Some((before, _)) = way.last() {
                        low[*before] = low[*before].min(low[node]);
                    }
                    if low[node] == number[node] {
                        let at = stack.iter().rposition(|known| *known == node).unwrap_or(0);
                        let mut set = stack.split_off(at);
                        set.iter().for_each(|member| set_of[*member] = sets);
                        let leaves = |member: &usize| links[*member].to.iter().any(|to| set_of[*to] != sets);
                        if set.len() > 1 && !set.iter().any(leaves) {
                            set.sort_unstable();
                            closed.push(set);
                        }
                        sets += 1;
                    }
                }
            }
        }
    }
    closed
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sets(edges: &[(usize, usize)], nodes: usize) -> Vec<Vec<usize>> {
        let links: Vec<Links> = (0..nodes)
            .map(|node| Links {
                to: edges.iter().filter(|(from, _)| *from == node).map(|(_, to)| *to).collect(),
                leaves: false,
            })
            .collect();
        closed_sets(&links)
    }

    #[test]
    fn only_sets_that_nothing_leaves() {
        assert_eq!(sets(&[(0, 1), (1, 0), (2, 0)], 3), [vec![0, 1]]);
        assert!(sets(&[(0, 1), (1, 0), (1, 2)], 3).is_empty());
        assert!(sets(&[(0, 0), (1, 2)], 3).is_empty());
        // Far deeper than a recursion would go.
        let ring: Vec<_> = (0..200_000).map(|node| (node, (node + 1) % 200_000)).collect();
        let links: Vec<Links> = ring.iter().map(|(_, to)| Links { to: vec![*to], leaves: false }).collect();
        assert_eq!(closed_sets(&links).len(), 1);
    }

    proptest! {
        #[test]
        fn as_by_reachability(edges in prop::collection::vec((0usize..7, 0usize..7), 0..16)) {
            let mut reach = [[false; 7]; 7];
            edges.iter().for_each(|(from, to)| reach[*from][*to] = true);
            for via in 0..7 {
                for from in 0..7 {
                    for to in 0..7 {
                        reach[from][to] |= reach[from][via] && reach[via][to];
                    }
                }
            }
            let mut expected: Vec<Vec<usize>> = (0..7)
                .map(|node| (0..7).filter(|to| reach[node][*to]).collect::<Vec<_>>())
                .filter(|set| set.len() > 1 && set.iter().all(|a| set.iter().all(|b| reach[*a][*b])))
                .collect();
            expected.sort();
            expected.dedup();
            let mut found = sets(&edges, 7);
            found.sort();
            prop_assert_eq!(found, expected);
        }
    }
}
