//! A path as a tree: what a thread's time is made of, the largest first, with the threads that it waited for below.

use super::{Explainer, Missing, Path, PathKind};
use hashbrown::HashMap;
use whyslow_facts::folds::graph::LongCall;
use whyslow_model::event::Tid;

/// A part of a thread's time: equal parts are one.
#[derive(Clone, Debug)]
pub struct TimeNode {
    /// What it is, or what was waited for.
    pub what: String,
    /// The kind; `None` where another thread's time says what it is.
    pub kind: Option<PathKind>,
    /// The thread that ended the wait.
    pub thread: Option<Tid>,
    /// How much, ns.
    pub ns: u64,
    /// How many parts.
    pub times: u64,
    /// Why nothing more is known.
    pub missing: Option<Missing>,
    /// False where some of it is known in proportion only.
    pub exact: bool,
    /// Where the longest part is seen; empty where no line shows it.
    pub evidence: String,
    /// What the other thread did in that time.
    pub below: Vec<TimeNode>,
}

/// Parts that are one, while they are added up.
struct Sum<'a> {
    ns: u64,
    times: u64,
    exact: bool,
    longest: (u64, Option<&'a LongCall>),
    stays: Vec<usize>,
}

impl<'a> Sum<'a> {
    fn add(&mut self, ns: u64, exact: bool, call: Option<&'a LongCall>) {
        self.ns = self.ns.saturating_add(ns);
        self.times += 1;
        self.exact &= exact;
        if ns > self.longest.0 {
            self.longest = (ns, call);
        }
    }
}

impl Default for Sum<'_> {
    fn default() -> Self {
        Sum { ns: 0, times: 0, exact: true, longest: (0, None), stays: Vec::new() }
    }
}

type Key = (String, Option<PathKind>, Option<Tid>, Option<Missing>);

impl<'a> Explainer<'a> {
    /// The path as a tree.
    pub fn tree(&self, path: &Path<'a>) -> Vec<TimeNode> {
        let mut segments: Vec<Vec<usize>> = vec![Vec::new(); path.stays.len()];
        for (at, segment) in path.segments.iter().enumerate() {
            segments[segment.stay].push(at);
        }
        let mut next: Vec<Vec<usize>> = vec![Vec::new(); path.stays.len()];
        for (at, stay) in path.stays.iter().enumerate() {
            if let Some((before, _)) = stay.came_from {
                next[before].push(at);
            }
        }
        if path.stays.is_empty() { Vec::new() } else { self.level(path, &[0], &segments, &next) }
    }

    fn level(
        &self,
        path: &Path<'a>,
        stays: &[usize],
        segments: &[Vec<usize>],
        next: &[Vec<usize>],
    ) -> Vec<TimeNode> {
        let mut sums: HashMap<Key, Sum<'a>> = HashMap::new();
        for &stay in stays {
            for segment in segments[stay].iter().map(|at| &path.segments[*at]) {
                let what = self.cause(segment);
                let key = (what, Some(segment.kind), None, segment.missing);
                sums.entry(key).or_default().add(segment.ns, segment.exact, segment.call);
            }
            for &at in &next[stay] {
                let there = path.stays[at];
                let call = there.came_from.and_then(|(_, call)| call);
                let what = call.map_or("its start".to_string(), |call| self.names(call));
                let sum = sums.entry((what, None, Some(there.tid), None)).or_default();
                sum.add(there.to - there.from, true, call);
                sum.stays.push(at);
            }
        }
        let mut nodes: Vec<TimeNode> = (sums.into_iter())
            .map(|((what, kind, thread, missing), sum)| TimeNode {
                what,
                kind,
                thread,
                ns: sum.ns,
                times: sum.times,
                missing,
                exact: sum.exact,
                evidence: sum.longest.1.map_or(String::new(), |call| self.place(call)),
                below: if sum.stays.is_empty() {
                    Vec::new()
                } else {
                    self.level(path, &sum.stays, segments, next)
                },
            })
            .collect();
        nodes.sort_by(|a, b| (b.ns, &a.what, a.thread).cmp(&(a.ns, &b.what, b.thread)));
        nodes
    }
}
