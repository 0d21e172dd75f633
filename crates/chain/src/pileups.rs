//! Pile-ups: threads that are all held up by one thing at one time, each with work in hand.
//!
//! The paths of what is under way tell at each moment what each thread's time goes back to. Where that is one thing for
//! most threads of a pool at once, the pool is exhausted: what comes next waits outside.

use super::{Explainer, Path, PathKind, Scope, Segment, WaitSpan};
use hashbrown::{HashMap, HashSet};
use whyslow_facts::ProcessId;
use whyslow_facts::demand::demand;
use whyslow_facts::folds::account::ObjectKind;
use whyslow_facts::folds::graph::{LongCall, Resource};
use whyslow_facts::folds::requests::Side;
use whyslow_model::event::Tid;
use whyslow_model::{DemandKind, Nanos, Timestamp};

/// Fewer threads are no pool.
const MIN_THREADS: usize = 3;
/// But where connections wait in the queue all the while: who serves them are all there are.
const MIN_BEHIND_QUEUE: usize = 2;
/// From this part of a pool's threads on it is exhausted: one or two may serve something else, such as health checks.
const MOST: f64 = 0.8;
/// Waits looked at where no request is seen, or not all are kept: the longest.
const MAX_WAITS: usize = 2_000;
/// What waits for servers have in common of which the capture tells no name.
const UNNAMED: &str = "servers that the capture does not name";

/// Threads held up by one thing.
#[derive(Clone, Debug)]
pub struct PileUp {
    /// Their process; of several workers that serve one queue, the first.
    pub process: ProcessId,
    /// The thing: `10.0.0.7:6379`, `fsync of /data/x`.
    pub what: String,
    /// Of which kind that is.
    pub kind: PathKind,
    /// How many threads at once, at most.
    pub peak: usize,
    /// Threads of the pool: those that were seen to have work in hand.
    pub pool: usize,
    /// True where they served requests.
    pub serving: bool,
    /// When the longest pile-up began,
    pub since: Timestamp,
    /// and how long it lasted.
    pub longest: Nanos,
    /// All of them together, ns.
    pub ns: u64,
    /// From the begin of the first to the end of the last thing that a thread of the pool had to do.
    pub at_work: Nanos,
    /// The thread with the longest part, and its interval: its path shows the chain.
    pub span: WaitSpan,
}

/// A part of an interval of a thread that goes back to one thing.
struct Part {
    tid: Tid,
    from: u64,
    to: u64,
}

/// What threads had to do.
struct InHand {
    /// The intervals, by process.
    spans: Vec<(ProcessId, WaitSpan)>,
    /// The threads that had some, by process.
    pools: HashMap<ProcessId, HashSet<Tid>>,
    /// Processes before which connections wait to be accepted.
    queued: HashSet<ProcessId>,
    /// True where that is requests.
    serving: bool,
}

#[derive(Default)]
struct Pile {
    parts: Vec<Part>,
    /// The longest part, one that another thread held up before one's own, and the place of its interval.
    worst: (bool, u64, usize),
}

impl<'a> Explainer<'a> {
    /// The pile-ups, the longest in all first: one for each process and thing.
    pub fn pile_ups(&self) -> Vec<PileUp> {
        let InHand { spans, pools, queued, serving } = self.in_hand();
        let mut piles: HashMap<(ProcessId, String, PathKind), Pile> = HashMap::new();
        for (at, (process, span)) in spans.iter().enumerate() {
            let path = self.path(span.tid, span.from, span.to);
            for segment in path.segments.iter().filter(|segment| self.is_root(&path, segment, serving)) {
                let Some(call) = segment.call else { continue };
                let pile = piles.entry((*process, self.piled_on(call), segment.kind)).or_default();
                pile.parts.push(Part { tid: span.tid, from: segment.from, to: segment.to });
                let held_up = path.stays[segment.stay].depth > 0;
                if (held_up, segment.ns) > (pile.worst.0, pile.worst.1) {
                    pile.worst = (held_up, segment.ns, at);
                }
            }
        }
        let mut all: Vec<PileUp> = piles
            .into_iter()
            .filter_map(|((process, what, kind), pile)| {
                let pool = pools.get(&process).map_or(0, HashSet::len);
                let least = if queued.contains(&process) { MIN_BEHIND_QUEUE } else { MIN_THREADS };
                let enough = least.max((pool as f64 * MOST).ceil() as usize);
                let swept = sweep(pile.parts, enough)?;
                let (peak, since, longest, ns) = swept;
                let span = spans[pile.worst.2].1;
                let own = || spans.iter().filter(|(of, _)| *of == process).map(|(_, span)| span);
                let first = own().map(|span| span.from).min()?;
                let at_work = own().map(|span| span.to).max()?.since(first);
                Some(PileUp { process, what, kind, peak, pool, serving, since, longest, ns, at_work, span })
            })
            .collect();
        all.sort_by(|a, b| (b.ns, &a.what, a.process).cmp(&(a.ns, &b.what, b.process)));
        all
    }

    /// What a wait is counted under in a pile-up. The connections of a pool to a server without a name are one thing.
    pub fn piled_on(&self, call: &LongCall) -> String {
        match call.what {
            Resource::Peer(end) if self.facts.graph.name(end.name).is_none() => UNNAMED.to_string(),
            _ => self.resource(call),
        }
    }

    /// Intervals in which threads have work in hand, and the threads of each pool: those of requests; where none is seen,
    /// waits that are never idle.
    fn in_hand(&self) -> InHand {
        let mut pools: HashMap<ProcessId, HashSet<Tid>> = HashMap::new();
        let (scope, spans) = self.spans();
        let process = |span: &WaitSpan| {
            let thread = self.thread_at(span.tid, span.from).or_else(|| self.thread_at(span.tid, span.to))?;
            Some((self.facts.world.threads.thread(thread).process, *span))
        };
        if scope == Scope::Requests {
            let open = self.facts.requests.open().iter().filter(|request| request.side == Side::Server);
            let open = open.map(|request| WaitSpan {
                tid: request.answered_by.unwrap_or(request.tid),
                from: request.begin,
                to: self.facts.window.end,
            });
            for (_, process, tid, _) in self.facts.requests.threads().filter(|row| row.0 == Side::Server) {
                pools.entry(process).or_default().insert(tid);
            }
            let mut spans: Vec<_> = spans.into_iter().chain(open).filter_map(|span| process(&span)).collect();
            spans.extend(self.waits_of_workers(&pools));
            let in_hand = InHand { spans, pools, queued: HashSet::new(), serving: true };
            return self.behind_queues(in_hand);
        }
        let mut waits: Vec<_> = self.facts.graph.calls().filter(|call| call.is_never_idle()).collect();
        for call in &waits {
            pools.entry(call.process).or_default().insert(call.tid);
        }
        waits.sort_by_key(|call| (std::cmp::Reverse(call.dur()), call.tid, call.from));
        waits.truncate(MAX_WAITS);
        let spans =
            waits.iter().map(|call| (call.process, WaitSpan { tid: call.tid, from: call.from, to: call.to }));
        InHand { spans: spans.collect(), pools, queued: HashSet::new(), serving: false }
    }

    /// Workers of one program that were started by one process, and serve one queue in which connections wait all the while, are one pool.
    /// Without such a queue each worker has its own clients, and those of the others are no matter of its.
    fn behind_queues(&self, mut in_hand: InHand) -> InHand {
        let threads = &self.facts.world.threads;
        let queues = demand(self.facts).queues;
        let lasting = queues.iter().filter(|queue| queue.kind == DemandKind::AcceptQueue && queue.lasts());
        let owners: HashSet<Tid> = lasting.filter_map(|queue| queue.pid).collect();
        if owners.is_empty() {
            return in_hand;
        }
        let known = |id: &ProcessId| threads.known_process(*id);
        let parent = |id: &ProcessId| {
            let process = known(id)?;
            process.parent.and_then(|parent| known(&parent)?.pid).or(process.parent_pid)
        };
        let family = |id: &ProcessId| Some((parent(id)?, known(id)?.name()?));
        let mut all: Vec<ProcessId> = in_hand.pools.keys().copied().collect();
        all.sort();
        let mut first: HashMap<ProcessId, ProcessId> = HashMap::new();
        for id in &all {
            let is_sibling = |other: &&ProcessId| family(id).is_some() && family(id) == family(other);
            let of = all.iter().find(is_sibling).unwrap_or(id);
            first.insert(*id, *of);
            let own = known(id).and_then(|process| process.pid);
            if own.into_iter().chain(parent(id)).any(|pid| owners.contains(&pid)) {
                in_hand.queued.insert(*of);
            }
        }
        let one =
            |id: ProcessId| first.get(&id).copied().filter(|of| in_hand.queued.contains(of)).unwrap_or(id);
        for (process, _) in &mut in_hand.spans {
            *process = one(*process);
        }
        let mut pools: HashMap<ProcessId, HashSet<Tid>> = HashMap::new();
        for (process, tids) in std::mem::take(&mut in_hand.pools) {
            pools.entry(one(process)).or_default().extend(tids);
        }
        InHand { pools, ..in_hand }
    }

    /// What threads that serve requests wait for of other servers, where not all requests are kept: only the slowest are, and what a pool
    /// does is what all of its threads do at one time.
    fn waits_of_workers(&self, pools: &HashMap<ProcessId, HashSet<Tid>>) -> Vec<(ProcessId, WaitSpan)> {
        let rows = || self.facts.requests.endpoints().iter().filter(|row| row.side == Side::Server);
        if rows().all(|row| row.kept().count() as u64 >= row.stats.count) {
            return Vec::new();
        }
        let of_pool =
            |call: &&LongCall| pools.get(&call.process).is_some_and(|pool| pool.contains(&call.tid));
        // A connection without a name may be that of a client who asks nothing now.
        let for_peer = |call: &&LongCall| {
            let kind = self.facts.accounts.objects.get(call.object).kind;
            let is_named =
                matches!(call.what, Resource::Peer(end) if self.facts.graph.name(end.name).is_some());
            is_named && kind == ObjectKind::Peer && call.waits.is_some()
        };
        let mut waits: Vec<_> = self.facts.graph.calls().filter(of_pool).filter(for_peer).collect();
        // Threads that wait longer than all requests took do so without one: for news, or at the end of a pool.
        let waited = waits.iter().fold(0u64, |sum, call| sum.saturating_add(call.dur().or_zero()));
        let served = rows().fold(0u64, |sum, row| sum.saturating_add(row.stats.total_ns));
        if waited > served {
            return Vec::new();
        }
        waits.sort_by_key(|call| (std::cmp::Reverse(call.dur()), call.tid, call.from));
        waits.truncate(MAX_WAITS);
        let span = |call: &LongCall| WaitSpan { tid: call.tid, from: call.from, to: call.to };
        waits.into_iter().map(|call| (call.process, span(call))).collect()
    }

    /// True for a wait for one's own client.
    fn is_for_client(&self, call: &LongCall) -> bool {
        let Resource::Peer(end) = call.what else { return false };
        // The number of its descriptor may lead elsewhere by now: what it was then, the account knows.
        match self.facts.accounts.objects.get(call.object).kind {
            ObjectKind::Clients => true,
            ObjectKind::Peer => false,
            _ => {
                let life = self.facts.world.life_of(call.process, end.fd);
                life.is_none_or(|life| life.origin == whyslow_facts::Origin::Accept)
            }
        }
    }

    /// A real wait. Without requests a lock alone is no root: who has it may be at work.
    fn is_root(&self, path: &Path<'a>, segment: &Segment<'a>, serving: bool) -> bool {
        let waits = match segment.kind {
            PathKind::Disk
            | PathKind::Peer
            | PathKind::PageFault
            | PathKind::Pipe
            | PathKind::Timer
            | PathKind::Child => true,
            PathKind::Lock => serving,
            _ => false,
        };
        // A request's first bytes and last bytes are its client's matter.
        let own = path.stays[segment.stay].depth == 0;
        waits && segment.exact && !(own && segment.call.is_some_and(|call| self.is_for_client(call)))
    }
}

/// Where at least `enough` threads are held up at once: how many at most, since when the longest time, how long that
/// lasted, and how long all such times are, ns.
fn sweep(parts: Vec<Part>, enough: usize) -> Option<(usize, Timestamp, Nanos, u64)> {
    let mut steps: Vec<(u64, bool, Tid)> = Vec::with_capacity(parts.len() * 2);
    for part in parts {
        steps.push((part.from, true, part.tid));
        steps.push((part.to, false, part.tid));
    }
    // At one moment ends come first.
    steps.sort_unstable();
    let mut held: HashMap<Tid, u32> = HashMap::new();
    let (mut peak, mut since, mut all) = (0, None, 0);
    let mut longest = (0, 0);
    for (at, begins, tid) in steps {
        match begins {
            true => *held.entry(tid).or_default() += 1,
            false => {
                if let Some(times) = held.get_mut(&tid) {
                    *times -= 1;
                    if *times == 0 {
                        held.remove(&tid);
                    }
                }
            }
        }
        peak = peak.max(held.len());
        match since {
            None if held.len() >= enough => since = Some(at),
            Some(from) if held.len() < enough => {
                all += at - from;
                if at - from > longest.0 {
                    longest = (at - from, from);
                }
                since = None;
            }
            _ => {}
        }
    }
    (all > 0).then(|| (peak, Timestamp::new(longest.1), Nanos::new(longest.0), all))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn piles_are_counted_by_threads_at_one_time() {
        let part = |tid, from, to| Part { tid, from, to };
        let parts = || vec![part(1, 0, 10), part(2, 2, 9), part(3, 4, 12), part(1, 10, 20), part(2, 15, 16)];
        assert_eq!(sweep(parts(), 3), Some((3, Timestamp::new(4), Nanos::new(5), 5)));
        assert_eq!(sweep(parts(), 4), None);
        // One thread twice is one.
        assert_eq!(sweep(vec![part(1, 0, 9), part(1, 0, 9)], 2), None);
    }
}
