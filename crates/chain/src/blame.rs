//! Blame over all: of all slow requests, or of the programs' own progress, which resource costs which share, and what
//! would be without it.

use super::{Explainer, Kind, Knot, KnotFinder, Path, Segment, words};
use hashbrown::HashMap;
use whyslow_facts::folds::requests::Side;
use whyslow_model::event::Tid;
use whyslow_model::{Nanos, SaturatingSum, Timestamp};

/// Whose time is looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scope {
    /// The requests that were served, as far as they are kept: the slowest and the failed.
    Requests,
    /// The first threads of programs that serve nobody: their time is the program's.
    MainThreads,
}

/// One interval that somebody waited for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Span {
    /// The thread that ended it.
    pub tid: Tid,
    /// From here.
    pub from: Timestamp,
    /// To here.
    pub to: Timestamp,
}

/// What one cause costs.
#[derive(Clone, Debug)]
pub struct Cost {
    /// What it is: `fsync of /data/x`, `10.0.0.1:6379 (GET k)`.
    pub what: String,
    /// Its kind.
    pub kind: Kind,
    /// The thread in which it was spent; of several, the first that was seen.
    pub tid: Tid,
    /// The threads in which it was spent, in order of their numbers.
    pub tids: Vec<Tid>,
    /// In all, ns.
    pub ns: u64,
    /// Of that, what was spent in other threads than those that were held up, ns.
    pub elsewhere_ns: u64,
    /// In how many of the intervals.
    pub intervals: u64,
    /// Where the longest part is seen; empty where no line shows it.
    pub evidence: String,
}

/// All costs.
#[derive(Clone, Debug)]
pub struct Blame {
    /// Whose time.
    pub scope: Scope,
    /// How many intervals.
    pub intervals: u64,
    /// Their time together, ns.
    pub total_ns: u64,
    /// The costs, the largest first: they add up to the total.
    pub costs: Vec<Cost>,
    /// Threads that wait only for each other, the largest first.
    pub knots: Vec<Knot>,
}

/// By cause, kind and thread: the cost, the number of the last span that has it, and the longest time with one thread, ns.
type Costs = HashMap<(String, Kind, Option<Tid>), (Cost, u64, u64)>;

impl<'a> Explainer<'a> {
    /// Intervals looked at, the longest.
    const MAX_SPANS: usize = 2_000;

    /// The intervals that count, and whose they are. Idle threads of a pool and the loops of servers are not among them.
    pub fn spans(&self) -> (Scope, Vec<Span>) {
        let requests = self.facts.requests.records().filter(|request| request.side == Side::Server);
        let mut spans: Vec<Span> = requests
            .filter(|request| request.dur.is_known())
            .map(|request| Span {
                tid: request.answered_by.unwrap_or(request.tid),
                from: request.begin,
                to: request.begin.plus(request.dur),
            })
            .collect();
        let scope = if spans.is_empty() { Scope::MainThreads } else { Scope::Requests };
        if spans.is_empty() {
            spans = self.main_threads();
        }
        spans.sort_by_key(|span| (std::cmp::Reverse(span.to.since(span.from)), span.tid, span.from));
        spans.truncate(Self::MAX_SPANS);
        (scope, spans)
    }

    fn main_threads(&self) -> Vec<Span> {
        let world = &self.facts.world;
        let mut serving: Vec<_> = (world.fds.iter())
            .filter(|(_, life)| life.listening || life.origin == whyslow_facts::Origin::Accept)
            .map(|(_, life)| life.process)
            .collect();
        serving.sort_unstable();
        serving.dedup();
        let threads = world.threads.iter().map(|(_, thread)| thread);
        let main = threads.filter(|thread| {
            let process = world.threads.process(thread.process);
            // A trace of one thread alone shows no numbers.
            let first = process.pid == Some(thread.tid) || thread.tid == 0;
            first && serving.binary_search(&thread.process).is_err()
        });
        main.filter_map(|thread| {
            let (from, to) = self.span(thread.tid)?;
            // Whose parent is watched too is a part of that one's time.
            let child = world.threads.process(thread.process).parent.is_some();
            (!child && from < to).then_some(Span { tid: thread.tid, from, to })
        })
        .collect()
    }

    /// What a segment is spent on, in words.
    pub fn cause(&self, segment: &Segment<'a>) -> String {
        match (segment.call, segment.kind) {
            (Some(call), Kind::Between | Kind::RunQueue | Kind::Throttled) if call.waits.is_some() => {
                words::phrase(segment.kind).to_string()
            }
            (Some(call), _) => self.names(call),
            (None, kind) => words::phrase(kind).to_string(),
        }
    }

    /// Which resource costs which share of what counts: each thread's part by itself, or all threads' together.
    pub fn blame(&self, by_thread: bool) -> Blame {
        let (scope, spans) = self.spans();
        let mut costs = Costs::new();
        let mut total_ns = 0u64;
        let mut knots = KnotFinder::new(self);
        for (number, span) in (1u64..).zip(&spans) {
            let path = self.path(span.tid, span.from, span.to);
            total_ns = total_ns.saturating_add(path.total());
            knots.see(&path);
            for segment in &path.segments {
                let stay = path.stays[segment.stay];
                let what = self.cause(segment);
                let key = (what.clone(), segment.kind, by_thread.then_some(stay.tid));
                let (cost, seen_in, longest) = costs.entry(key).or_insert_with(|| {
                    let (kind, tid) = (segment.kind, stay.tid);
                    let cost = Cost {
                        what,
                        kind,
                        tid,
                        tids: Vec::new(),
                        ns: 0,
                        elsewhere_ns: 0,
                        intervals: 0,
                        evidence: String::new(),
                    };
                    (cost, 0, 0)
                });
                cost.ns = cost.ns.saturating_add(segment.ns);
                if let Err(at) = cost.tids.binary_search(&stay.tid) {
                    cost.tids.insert(at, stay.tid);
                }
                cost.elsewhere_ns += if stay.depth > 0 { segment.ns } else { 0 };
                cost.intervals += u64::from(*seen_in != number);
                *seen_in = number;
                if let Some(call) = segment.call.filter(|_| segment.ns > *longest) {
                    *longest = segment.ns;
                    cost.evidence = self.place(call);
                }
            }
        }
        let mut costs: Vec<Cost> = costs.into_values().map(|(cost, ..)| cost).collect();
        costs.sort_by(|a, b| (b.ns, &a.what, a.tid).cmp(&(a.ns, &b.what, b.tid)));
        Blame { scope, intervals: spans.len() as u64, total_ns, costs, knots: knots.knots() }
    }

    /// True where a segment is what `pattern` names: a kind, or a part of the name of what was waited for.
    pub fn is(&self, segment: &Segment<'a>, pattern: &str) -> bool {
        match Kind::of_word(pattern) {
            Some(kind) => segment.kind == kind,
            None => self.cause(segment).contains(pattern),
        }
    }

    /// The length of a path, and what it would be if what `pattern` names cost nothing: at best, as what else was under
    /// way meanwhile may become what is waited for.
    pub fn without(&self, path: &Path<'a>, pattern: &str) -> (Nanos, Nanos) {
        let gone =
            path.segments.iter().filter(|part| self.is(part, pattern)).map(|part| part.ns).saturating_sum();
        (Nanos::new(path.total()), Nanos::new(path.total() - gone))
    }

    /// The same over all that counts: lengths as they are and as they would be, each sorted.
    pub fn all_without(&self, pattern: &str) -> (Vec<Nanos>, Vec<Nanos>) {
        let (_, spans) = self.spans();
        let both = spans.iter().map(|span| self.without(&self.path(span.tid, span.from, span.to), pattern));
        let (mut now, mut then): (Vec<_>, Vec<_>) = both.unzip();
        now.sort_unstable();
        then.sort_unstable();
        (now, then)
    }
}
