//! The calls between the nodes of a graph.

use super::walk::{Path, Step, Walk};
use super::{CallGraph, Weights, magnitude};
use foldhash::fast::FixedState;
use hashbrown::{HashMap, HashTable};
use std::hash::BuildHasher;
use whyslow_model::profile::Profile;

/// Calls of one node by another.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    /// Who calls: an index of [`CallGraph::nodes`].
    pub source: u32,
    /// Who is called.
    pub target: u32,
    /// The value of all stacks that have the call.
    pub weight: i64,
    /// Other nodes between the two were left out.
    pub residual: bool,
    /// All of the calls were inlined.
    pub inlined: bool,
}

/// Edges, found by both their ends.
#[derive(Debug, Default)]
pub struct Edges {
    /// The heaviest first.
    edges: Vec<Edge>,
    by_source: Vec<u32>,
    by_target: Vec<u32>,
}

impl Edges {
    fn new(mut edges: Vec<Edge>, graph: &CallGraph) -> Edges {
        let ends = edges.iter().flat_map(|edge| [edge.source, edge.target]);
        let names: HashMap<u32, String> = ends.map(|id| (id, graph.node(id).info.printable())).collect();
        let name = |id: u32| names.get(&id).map_or("", String::as_str);
        edges.sort_by(|a, b| {
            let heavier = magnitude(b.weight).cmp(&magnitude(a.weight));
            heavier
                .then_with(|| name(a.source).cmp(name(b.source)))
                .then_with(|| name(a.target).cmp(name(b.target)))
        });
        let mut by_source: Vec<u32> = (0..edges.len() as u32).collect();
        let mut by_target = by_source.clone();
        by_source.sort_by_key(|id| edges[*id as usize].source);
        by_target.sort_by_key(|id| edges[*id as usize].target);
        Edges { edges, by_source, by_target }
    }

    /// The calls of a node by others, the heaviest first.
    pub fn into_node(&self, node: u32) -> impl Iterator<Item = &Edge> {
        self.of(&self.by_target, node, |edge| edge.target)
    }

    /// The calls by a node, the heaviest first.
    pub fn out_of_node(&self, node: u32) -> impl Iterator<Item = &Edge> {
        self.of(&self.by_source, node, |edge| edge.source)
    }

    fn of<'a>(
        &'a self,
        order: &'a [u32],
        node: u32,
        end: fn(&Edge) -> u32,
    ) -> impl Iterator<Item = &'a Edge> {
        let start = order.partition_point(|id| end(&self.edges[*id as usize]) < node);
        let from = order[start..].iter().map(|id| &self.edges[*id as usize]);
        from.take_while(move |edge| end(edge) == node)
    }
}

/// A kept node of the stack that is walked.
#[derive(Clone, Copy)]
struct CallOnPath {
    node: u32,
    /// How it was called, if this is the outermost of these calls.
    edge: Option<u32>,
}

/// Edges that are being found. There may be many more than are kept: each is touched in one place.
#[derive(Default)]
struct Found {
    ids: HashTable<u32>,
    hasher: FixedState,
    edges: Vec<FoundEdge>,
}

struct FoundEdge {
    is: Edge,
    /// Whether the stack has the call: one that calls itself counts once.
    is_on: bool,
}

impl Found {
    /// The call of `target` by `source`; `None` where the stack has it already.
    #[inline]
    fn call(&mut self, source: u32, target: u32, residual: bool, inlined: bool) -> Option<u32> {
        let Found { ids, hasher, edges } = self;
        let hash = |source, target| hasher.hash_one(u64::from(source) << 32 | u64::from(target));
        let is_same = |id: &u32| {
            let edge = &edges[*id as usize].is;
            (edge.source, edge.target) == (source, target)
        };
        let hash_of = |id: &u32| hash(edges[*id as usize].is.source, edges[*id as usize].is.target);
        let next = edges.len() as u32;
        let id = *ids.entry(hash(source, target), is_same, hash_of).or_insert(next).get();
        if id == next {
            let is = Edge { source, target, weight: 0, residual, inlined };
            edges.push(FoundEdge { is, is_on: true });
            return Some(id);
        }
        let edge = &mut edges[id as usize];
        if std::mem::replace(&mut edge.is_on, true) {
            return None;
        }
        edge.is.residual |= residual;
        edge.is.inlined &= inlined;
        Some(id)
    }

    #[inline]
    fn end(&mut self, step: Step<CallOnPath>) {
        let Some(id) = step.is.edge else { return };
        let edge = &mut self.edges[id as usize];
        edge.is_on = false;
        edge.is.weight = edge.is.weight.saturating_add(step.weight);
    }
}

impl CallGraph {
    /// The calls between kept nodes: those of at least `cutoff`. Without `all` only those of nodes that are inlined somewhere.
    pub(crate) fn edges(&self, profile: &Profile, weights: &Weights, cutoff: i64, all: bool) -> Edges {
        let mut asked = vec![all; self.nodes.len()];
        self.inlined_nodes().for_each(|id| asked[id as usize] = true);
        let mut found = Found::default();
        let mut path: Path<CallOnPath> = Path::default();
        // Whether nodes were left out since the last step, at the end of each location.
        let mut residuals: Vec<bool> = Vec::new();
        for walked in Walk::new(profile, weights) {
            path.back_to(walked.shared, |step| found.end(step));
            residuals.truncate(walked.shared);
            let mut residual = residuals.last().is_some_and(|residual| *residual);
            for location in walked.rest.iter().rev() {
                let nodes = self.nodes_of(*location);
                for (place, id) in nodes.iter().enumerate().rev() {
                    if !self.kept[*id as usize] {
                        residual = true;
                        continue;
                    }
                    let is_asked = |caller: &u32| caller != id && asked[*id as usize];
                    let caller = path.last().map(|step| step.node).filter(is_asked);
                    let inlined = place + 1 != nodes.len();
                    let edge = caller.and_then(|caller| found.call(caller, *id, residual, inlined));
                    path.step(CallOnPath { node: *id, edge });
                    residual = false;
                }
                path.end_location();
                residuals.push(residual);
            }
            path.leaf(walked.weight, 0);
        }
        path.back_to(0, |step| found.end(step));
        let mut shown = vec![false; self.nodes.len()];
        self.shown.iter().for_each(|id| shown[*id as usize] = true);
        // Calls of nodes that are not shown are never cut, as in pprof.
        let mut edges: Vec<Edge> = found.edges.into_iter().map(|edge| edge.is).collect();
        edges.retain(|edge| {
            !shown[edge.target as usize] || cutoff <= 0 || magnitude(edge.weight) >= cutoff as u64
        });
        Edges::new(edges, self)
    }
}
