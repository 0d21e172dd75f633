//! The call graph of a profile: what each node costs by itself and with all that it calls, and the calls between nodes.
//! Rules, order and numbers are pprof's (google/pprof, `internal/graph`), so that its tables come out the same.
//!
//! Samples of one stack are added first: a stack is walked once, however many samples have it. Recursion counts once a
//! stack; that is told by stamps, so that a walk allocates nothing.

mod places;

pub(crate) use places::trimmed;

use hashbrown::HashMap;
use places::{Key, Names};
use std::cmp::Ordering;
use whyslow_model::profile::{CallStackId, LocationId, Profile};

/// How finely places are told apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Granularity {
    /// By the function's name.
    #[default]
    Functions,
    /// By the function's name and its file.
    FileFunctions,
    /// By the file.
    Files,
    /// By the source line.
    Lines,
    /// By the address.
    Addresses,
}

/// What makes two frames the same node.
#[derive(Clone, Debug, Default)]
pub struct Shape {
    /// How finely.
    pub granularity: Granularity,
    /// Inlined functions belong to the function that they are inlined in.
    pub no_inlines: bool,
    /// Columns of a line are told apart.
    pub columns: bool,
    /// Equal functions of different binaries are told apart.
    pub objects: bool,
    /// Prefixes to take off source files, separated by colons.
    pub trim_path: String,
    /// Directories where source files are searched, separated by colons; what leads to their names is taken off source files.
    pub source_path: String,
}

/// What a node stands for.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct NodeInfo {
    /// The function; empty: unknown, or not asked for.
    pub name: String,
    /// The address; 0: unknown, or not asked for.
    pub address: u64,
    /// The source file; empty: unknown, or not asked for.
    pub file: String,
    /// Where the function begins; only where objects are told apart or there is no name.
    pub start_line: i64,
    /// The line; 0: unknown, or not asked for.
    pub line: i64,
    /// The column; 0: unknown, or not asked for.
    pub column: i64,
    /// The binary; only where objects are told apart or there is no name.
    pub object: String,
}

impl NodeInfo {
    /// As pprof prints it: address, function, file and line, as far as they are there; else the binary.
    pub fn printable(&self) -> String {
        let mut text = String::new();
        if self.address != 0 {
            text = format!("{:016x} ", self.address);
        }
        text.push_str(&self.name);
        let place = match () {
            () if self.line != 0 && self.column != 0 => {
                format!("{}:{}:{}", self.file, self.line, self.column)
            }
            () if self.line != 0 => format!("{}:{}", self.file, self.line),
            () if !self.file.is_empty() => self.file.clone(),
            () if !self.name.is_empty() => return text,
            () if !self.object.is_empty() => format!("[{}]", base_name(&self.object)),
            () => "<unknown>".to_string(),
        };
        if !self.name.is_empty() {
            text.push(' ');
        }
        text.push_str(&place);
        text
    }

    /// The order of printed names.
    fn compare_printable(&self, other: &NodeInfo) -> Ordering {
        if self == other {
            Ordering::Equal
        } else if self.address != 0 && other.address != 0 && self.address != other.address {
            self.address.cmp(&other.address)
        } else {
            self.printable().cmp(&other.printable())
        }
    }

    /// The last resort where all else is equal: any order that is always the same.
    fn all(&self) -> String {
        format!(
            "{{{}  {} {} {} {} {} {}}}",
            self.name, self.address, self.file, self.start_line, self.line, self.column, self.object
        )
    }
}

/// The last part of a path, as Go's `filepath.Base` has it.
pub(crate) fn base_name(path: &str) -> &str {
    let trimmed = path.trim_end_matches('/');
    match trimmed.rsplit_once('/') {
        Some((_, base)) => base,
        None if trimmed.is_empty() && !path.is_empty() => "/",
        None if trimmed.is_empty() => ".",
        None => trimmed,
    }
}

/// Values of each stack: the sum over its samples.
#[derive(Debug)]
pub(crate) struct Weights {
    /// The sum of the value, and of its divisor.
    sums: Vec<(i64, i64)>,
    /// Whether a sample had a value: a sum of 0 may be one of 5 and -5.
    any: Vec<bool>,
}

impl Weights {
    /// Of the samples' value `index`; with `mean`, divided by the first value.
    pub(crate) fn of(profile: &Profile, index: usize, mean: bool) -> Weights {
        let count = profile.stack_count();
        let mut weights = Weights { sums: vec![(0, 0); count], any: vec![false; count] };
        for sample in profile.samples() {
            let value = sample.values.get(index).copied().unwrap_or(0);
            let divisor = if mean { sample.values.first().copied().unwrap_or(0) } else { 0 };
            if value != 0 || divisor != 0 {
                let id = sample.stack_id.0 as usize;
                weights.any[id] = true;
                let (sum, divisors) = &mut weights.sums[id];
                *sum = sum.saturating_add(value);
                *divisors = divisors.saturating_add(divisor);
            }
        }
        weights
    }
}

/// A node.
#[derive(Clone, Debug)]
pub struct Node {
    /// What it stands for.
    pub info: NodeInfo,
    /// Its own value, and that with all it calls: sums, not yet divided where a mean is asked for.
    pub flat: i64,
    /// The value of all stacks that it is in.
    pub cum: i64,
    flat_divisor: i64,
    cum_divisor: i64,
}

impl Node {
    /// Its own value; the mean where one is asked for.
    pub fn flat_value(&self) -> i64 {
        self.flat.checked_div(self.flat_divisor).unwrap_or(self.flat)
    }

    /// The value of all stacks that it is in; the mean where one is asked for.
    pub fn cum_value(&self) -> i64 {
        self.cum.checked_div(self.cum_divisor).unwrap_or(self.cum)
    }

    fn is_negative(&self) -> bool {
        self.flat < 0 || (self.flat == 0 && self.cum < 0)
    }
}

/// Calls of one node by another.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    /// Who calls: an index of [`Graph::nodes`].
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

/// The nodes of a profile, with the calls between them.
#[derive(Debug)]
pub struct Graph {
    /// All nodes; [`Graph::shown`] names those to show.
    pub nodes: Vec<Node>,
    /// The nodes of each location, the innermost first.
    location_nodes: Vec<u32>,
    /// Where each location's begin in `location_nodes`; one more at the end.
    location_starts: Vec<u32>,
    /// Nodes to show, in the order to show them.
    pub shown: Vec<u32>,
    /// Nodes that are kept while edges are built.
    kept: Vec<bool>,
}

impl Graph {
    /// The nodes, with their values.
    pub(crate) fn new(profile: &Profile, shape: &Shape, weights: &Weights, drop_negative: bool) -> Graph {
        let mut graph = Graph::places(profile, shape);
        graph.weigh(profile, weights);
        graph.shown = (0..graph.nodes.len() as u32)
            .filter(|id| {
                let node = &graph.nodes[*id as usize];
                (node.cum != 0 || node.flat != 0) && !(drop_negative && node.is_negative())
            })
            .collect();
        graph
    }

    /// The nodes, without values.
    pub(crate) fn places(profile: &Profile, shape: &Shape) -> Graph {
        let mut names = Names::new(profile, shape);
        let mut ids: HashMap<Key, u32, foldhash::fast::FixedState> = HashMap::default();
        let mut keys = Vec::new();
        let mut location_nodes = Vec::with_capacity(profile.lines.len());
        let mut location_starts = Vec::with_capacity(profile.locations.len() + 1);
        for location in 0..profile.locations.len() {
            location_starts.push(location_nodes.len() as u32);
            for key in names.keys_of(LocationId(location as u32)) {
                let id = *ids.entry(key).or_insert_with(|| {
                    keys.push(key);
                    keys.len() as u32 - 1
                });
                location_nodes.push(id);
            }
        }
        location_starts.push(location_nodes.len() as u32);
        let nodes: Vec<Node> = keys.iter().map(|key| names.node(key)).collect();
        let kept = vec![true; nodes.len()];
        Graph { nodes, location_nodes, location_starts, shown: Vec::new(), kept }
    }

    /// A location's nodes, the innermost first.
    pub(crate) fn nodes_of(&self, location: LocationId) -> &[u32] {
        let at = location.0 as usize;
        match (self.location_starts.get(at), self.location_starts.get(at + 1)) {
            (Some(start), Some(end)) => &self.location_nodes[*start as usize..*end as usize],
            _ => &[],
        }
    }

    fn weigh(&mut self, profile: &Profile, weights: &Weights) {
        let Graph { nodes, location_nodes, location_starts, .. } = self;
        // Which stack touched a node last; stacks count from 1.
        let mut seen = vec![0_u32; nodes.len()];
        for (number, (weight, divisor)) in weights.sums.iter().enumerate() {
            if !weights.any[number] {
                continue;
            }
            let stamp = number as u32 + 1;
            let stack = profile.stack(CallStackId(number as u32));
            let mut leaf = None;
            for location in stack {
                let at = location.0 as usize;
                let Some(range) = location_starts.get(at..at + 2) else { continue };
                for id in &location_nodes[range[0] as usize..range[1] as usize] {
                    leaf = leaf.or(Some(*id));
                    let last = &mut seen[*id as usize];
                    if *last != stamp {
                        *last = stamp;
                        let node = &mut nodes[*id as usize];
                        node.cum = node.cum.saturating_add(*weight);
                        node.cum_divisor = node.cum_divisor.saturating_add(*divisor);
                    }
                }
            }
            if let Some(leaf) = leaf {
                let node = &mut nodes[leaf as usize];
                node.flat = node.flat.saturating_add(*weight);
                node.flat_divisor = node.flat_divisor.saturating_add(*divisor);
            }
        }
    }

    /// The sum of all nodes' own values.
    pub(crate) fn flat_sum(&self) -> i64 {
        self.shown.iter().fold(0, |sum: i64, id| sum.saturating_add(self.node(*id).flat))
    }

    /// A node.
    pub fn node(&self, id: u32) -> &Node {
        &self.nodes[id as usize]
    }

    /// Shows only nodes whose value with all they call is not below `cutoff`; tells how many that leaves out.
    pub(crate) fn drop_below(&mut self, cutoff: i64) -> usize {
        let before = self.shown.len();
        if cutoff > 0 {
            let nodes = &self.nodes;
            self.shown.retain(|id| magnitude(nodes[*id as usize].cum) >= cutoff as u64);
            if self.shown.len() != before {
                self.keep_shown();
            }
        }
        before - self.shown.len()
    }

    /// Sorts by own value, or by the value with all that a node calls; equal ones by name.
    pub(crate) fn sort(&mut self, by_cum: bool) {
        let nodes = &self.nodes;
        let order = |a: &u32, b: &u32| {
            let (a, b) = (&nodes[*a as usize], &nodes[*b as usize]);
            let values = |node: &Node| if by_cum { (node.cum, node.flat) } else { (node.flat, node.cum) };
            let ((first_a, second_a), (first_b, second_b)) = (values(a), values(b));
            magnitude(first_b)
                .cmp(&magnitude(first_a))
                .then_with(|| a.info.compare_printable(&b.info))
                .then_with(|| magnitude(second_b).cmp(&magnitude(second_a)))
                .then_with(|| a.info.all().cmp(&b.info.all()))
        };
        self.shown.sort_by(order);
    }

    /// Shows only the first `count` nodes.
    pub(crate) fn keep_first(&mut self, count: usize) {
        if count < self.shown.len() {
            self.shown.truncate(count);
            self.keep_shown();
        }
    }

    fn keep_shown(&mut self) {
        self.kept.fill(false);
        for id in &self.shown {
            self.kept[*id as usize] = true;
        }
    }

    /// The calls between kept nodes: those of at least `cutoff`.
    pub(crate) fn edges(&self, profile: &Profile, weights: &Weights, cutoff: i64) -> Edges {
        let mut ids: HashMap<u64, u32, foldhash::fast::FixedState> = HashMap::default();
        let mut edges: Vec<Edge> = Vec::new();
        let mut seen: Vec<u32> = Vec::new();
        for (number, (weight, _)) in weights.sums.iter().enumerate() {
            if !weights.any[number] {
                continue;
            }
            let stamp = number as u32 + 1;
            let (mut parent, mut residual) = (None, false);
            for location in profile.stack(CallStackId(number as u32)).iter().rev() {
                let nodes = self.nodes_of(*location);
                for (place, id) in nodes.iter().enumerate().rev() {
                    if !self.kept[*id as usize] {
                        residual = true;
                        continue;
                    }
                    if let Some(parent) = parent.filter(|parent| parent != id) {
                        let inlined = place + 1 != nodes.len();
                        let key = u64::from(parent) << 32 | u64::from(*id);
                        let edge = *ids.entry(key).or_insert_with(|| {
                            edges.push(Edge {
                                source: parent,
                                target: *id,
                                weight: 0,
                                residual: false,
                                inlined: true,
                            });
                            seen.push(0);
                            edges.len() as u32 - 1
                        }) as usize;
                        if seen[edge] != stamp {
                            seen[edge] = stamp;
                            let edge = &mut edges[edge];
                            edge.weight = edge.weight.saturating_add(*weight);
                            edge.residual |= residual;
                            edge.inlined &= inlined;
                        }
                    }
                    parent = Some(*id);
                    residual = false;
                }
            }
        }
        let mut shown = vec![false; self.nodes.len()];
        self.shown.iter().for_each(|id| shown[*id as usize] = true);
        // Calls of nodes that are not shown are never cut, as in pprof.
        edges.retain(|edge| {
            !shown[edge.target as usize] || cutoff <= 0 || magnitude(edge.weight) >= cutoff as u64
        });
        Edges::new(edges, self)
    }

    /// Whether any location has inlined functions.
    pub(crate) fn has_inlined(&self) -> bool {
        self.location_nodes.len() + 1 > self.location_starts.len()
    }
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
    fn new(mut edges: Vec<Edge>, graph: &Graph) -> Edges {
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

pub(crate) fn magnitude(value: i64) -> u64 {
    value.unsigned_abs()
}
