//! Blame over all: of all slow requests, or of the programs' own progress, which resource costs which share, and what
//! would be without it.

use super::{Explainer, Knot, KnotFinder, Path, PathKind, Segment, words};
use hashbrown::{HashMap, HashSet};
use std::borrow::Cow;
use whyslow_facts::folds::graph::{LongCall, Resource};
use whyslow_facts::folds::requests::Side;
use whyslow_facts::pattern::pattern_of;
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
pub struct WaitSpan {
    /// The thread that ended it.
    pub tid: Tid,
    /// From here.
    pub from: Timestamp,
    /// To here.
    pub to: Timestamp,
}

/// What one cause costs.
#[derive(Clone, Debug)]
pub struct CauseCost {
    /// What it is: `fsync of /data/x`, `10.0.0.1:6379 (GET k)`.
    pub what: String,
    /// Its kind.
    pub kind: PathKind,
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
    pub costs: Vec<CauseCost>,
    /// Threads that wait only for each other, the largest first.
    pub knots: Vec<Knot>,
}

/// By cause, kind and thread: the cost, the number of the last span that has it, and the longest time with one thread, ns.
type Costs = HashMap<(String, PathKind, Option<Tid>), (CauseCost, u64, u64)>;

impl<'a> Explainer<'a> {
    /// Intervals looked at, the longest.
    const MAX_SPANS: usize = 2_000;

    /// The intervals that count, and whose they are. Idle threads of a pool and the loops of servers are not among them.
    pub fn spans(&self) -> (Scope, Vec<WaitSpan>) {
        let requests = self.facts.requests.records().filter(|request| request.side == Side::Server);
        let mut spans: Vec<WaitSpan> = requests
            .filter(|request| request.dur.is_known())
            .map(|request| WaitSpan {
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

    fn main_threads(&self) -> Vec<WaitSpan> {
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
            (!child && from < to).then_some(WaitSpan { tid: thread.tid, from, to })
        })
        .collect()
    }

    /// What a segment is spent on, in words. Of several files whose names differ by numbers alone it is their pattern.
    pub fn cause(&self, segment: &Segment<'a>) -> String {
        match (segment.call, segment.kind) {
            (Some(call), PathKind::Between | PathKind::RunQueue | PathKind::Throttled)
                if call.waits.is_some() =>
            {
                words::phrase(segment.kind).to_string()
            }
            (Some(call), _) => self.names_by_kind(call),
            (None, kind) => words::phrase(kind).to_string(),
        }
    }

    /// As [`Explainer::names`]; a file that is one of several of its kind by their pattern.
    fn names_by_kind(&self, call: &LongCall) -> String {
        let name = self.file(call);
        let pattern = name.map(pattern_of).filter(|pattern| self.kinds_of_files().contains(&**pattern));
        match (name, pattern) {
            (Some(name), Some(pattern)) => self.names(call).replace(name, &pattern),
            _ => self.names(call),
        }
    }

    /// The file that a call works on, where it is known.
    fn file(&self, call: &LongCall) -> Option<&'a str> {
        match call.what {
            Resource::File(end) => self.facts.graph.name(end.name),
            _ => None,
        }
    }

    /// Patterns that several files of the long calls have.
    fn kinds_of_files(&self) -> &HashSet<String> {
        self.kinds_of_files.get_or_init(|| {
            let names: HashSet<&str> = self.facts.graph.calls().filter_map(|call| self.file(call)).collect();
            let mut counts: HashMap<String, u32> = HashMap::new();
            for name in names {
                if let Cow::Owned(pattern) = pattern_of(name) {
                    *counts.entry(pattern).or_default() += 1;
                }
            }
            counts.into_iter().filter(|(_, files)| *files > 1).map(|(pattern, _)| pattern).collect()
        })
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
                    let cost = CauseCost {
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
        let mut costs: Vec<CauseCost> = costs.into_values().map(|(cost, ..)| cost).collect();
        costs.sort_by(|a, b| (b.ns, &a.what, a.tid).cmp(&(a.ns, &b.what, b.tid)));
        Blame { scope, intervals: spans.len() as u64, total_ns, costs, knots: knots.knots() }
    }

    /// True where a segment is what `pattern` names: a kind, or a part of the name of what was waited for.
    pub fn is(&self, segment: &Segment<'a>, pattern: &str) -> bool {
        match PathKind::of_word(pattern) {
            Some(kind) => segment.kind == kind,
            None => {
                names(&self.cause(segment), pattern)
                    || segment.call.and_then(|call| self.file(call)).is_some_and(|file| names(file, pattern))
            }
        }
    }

    /// The length of a path, and what it would be if what the patterns name cost nothing: at best, as what else was under
    /// way meanwhile may become what is waited for.
    pub fn without(&self, path: &Path<'a>, patterns: &[&str]) -> (Nanos, Nanos) {
        let is_gone = |part: &&Segment<'a>| patterns.iter().any(|pattern| self.is(part, pattern));
        let gone = path.segments.iter().filter(is_gone).map(|part| part.ns).saturating_sum();
        (Nanos::new(path.total()), Nanos::new(path.total().saturating_sub(gone)))
    }

    /// The same over all that counts, for each list of patterns.
    pub fn all_without(&self, lists: &[&[&str]]) -> Vec<Lengths> {
        let (_, spans) = self.spans();
        let mut all: Vec<Lengths> = lists.iter().map(|_| Lengths::default()).collect();
        for span in &spans {
            let path = self.path(span.tid, span.from, span.to);
            for (lengths, patterns) in all.iter_mut().zip(lists) {
                let (now, then) = self.without(&path, patterns);
                lengths.now.push(now);
                lengths.then.push(then);
            }
        }
        for lengths in &mut all {
            lengths.now.sort_unstable();
            lengths.then.sort_unstable();
        }
        all
    }
}

/// Lengths of all that counts as they are, and as they would be without something; each sorted.
#[derive(Clone, Debug, Default)]
pub struct Lengths {
    /// As they are.
    pub now: Vec<Nanos>,
    /// As they would be at best.
    pub then: Vec<Nanos>,
}

impl Lengths {
    /// What that part of them take at most: now, and then.
    pub fn percentile(&self, part: f64) -> (Nanos, Nanos) {
        let at = |sorted: &[Nanos]| {
            let rank = (part * sorted.len() as f64).ceil() as usize;
            sorted.get(rank.saturating_sub(1)).copied().unwrap_or(Nanos::UNKNOWN)
        };
        (at(&self.now), at(&self.then))
    }

    /// The part of their time that would be gone, 0 to 1.
    pub fn gone(&self) -> f64 {
        let sum = |all: &[Nanos]| all.iter().map(|ns| ns.or_zero()).saturating_sum() as f64;
        let now = sum(&self.now);
        if now > 0.0 { 1.0 - sum(&self.then) / now } else { 0.0 }
    }
}

/// True where `text` has `pattern` as a part, and no number of one goes on in the other: port 80 is not in 8080.
fn names(text: &str, pattern: &str) -> bool {
    let is_digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    let (starts, ends) = (is_digit(pattern.chars().next()), is_digit(pattern.chars().next_back()));
    text.match_indices(pattern).any(|(at, _)| {
        let (before, behind) = (&text[..at], &text[at + pattern.len()..]);
        !(starts && is_digit(before.chars().next_back()) || ends && is_digit(behind.chars().next()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_name_is_no_part_of_a_number() {
        let address = "up.py (15, 127.0.0.1:7491) (GET k)";
        assert!(
            ["127.0.0.1:7491", "7491", "up.py", "GET", "127.0.0"].iter().all(|part| names(address, part))
        );
        assert!(!["749", "491", "27.0.0.1:7491", "nothing"].iter().any(|part| names(address, part)));
    }

    #[test]
    fn lengths_tell_percentiles_and_what_is_gone() {
        let ms = |all: &[u64]| all.iter().map(|ms| Nanos::from_millis(*ms)).collect::<Vec<_>>();
        let lengths = Lengths { now: ms(&[10, 20, 30, 40]), then: ms(&[1, 2, 3, 4]) };
        assert_eq!(lengths.percentile(0.5), (Nanos::from_millis(20), Nanos::from_millis(2)));
        assert_eq!(lengths.percentile(0.99), (Nanos::from_millis(40), Nanos::from_millis(4)));
        assert!((lengths.gone() - 0.9).abs() < 1e-9);
        assert_eq!(Lengths::default().percentile(0.5), (Nanos::UNKNOWN, Nanos::UNKNOWN));
    }
}
