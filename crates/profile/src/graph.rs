//! The call graph of a profile: what each node costs by itself and with all that it calls, and the calls between nodes.
//! Rules, order and numbers are pprof's (google/pprof, `internal/graph`), so that its tables come out the same.
//!
//! Samples of one stack are added first: a stack is walked once, however many samples have it, and what it shares with the
//! stack before it is not walked again.

mod edges;
mod places;
mod walk;

pub use edges::{Edge, Edges};
pub(crate) use places::trimmed;
pub(crate) use walk::Weights;

use hashbrown::HashMap;
use places::{Key, Names};
use std::cmp::Ordering;
use walk::{Path, Step, Walk};
use whyslow_model::profile::{LocationId, Profile};

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

/// A node of the stack that is walked.
#[derive(Clone, Copy)]
struct NodeOnPath {
    node: u32,
    /// The outermost of those of one node.
    is_first: bool,
}

impl NodeOnPath {
    /// All stacks that share this step have been walked.
    #[inline]
    fn ended(step: Step<NodeOnPath>, sums: &mut [NodeSum]) {
        if step.is.is_first {
            let sum = &mut sums[step.is.node as usize];
            sum.is_on = false;
            sum.cum = sum.cum.saturating_add(step.weight);
            sum.divisor = sum.divisor.saturating_add(step.divisor);
        }
    }
}

/// What a walk adds up for a node.
#[derive(Clone, Copy, Default)]
struct NodeSum {
    cum: i64,
    divisor: i64,
    /// Whether the stack has the node: one that calls itself counts once.
    is_on: bool,
}

/// The nodes of a profile, with the calls between them.
#[derive(Debug)]
pub struct CallGraph {
    /// All nodes; [`CallGraph::shown`] names those to show.
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

impl CallGraph {
    /// The nodes, with their values.
    pub(crate) fn new(profile: &Profile, shape: &Shape, weights: &Weights, drop_negative: bool) -> CallGraph {
        let mut graph = CallGraph::places(profile, shape);
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
    pub(crate) fn places(profile: &Profile, shape: &Shape) -> CallGraph {
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
        CallGraph { nodes, location_nodes, location_starts, shown: Vec::new(), kept }
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
        let mut sums = vec![NodeSum::default(); self.nodes.len()];
        let mut path: Path<NodeOnPath> = Path::default();
        for walked in Walk::new(profile, weights) {
            path.back_to(walked.shared, |step| NodeOnPath::ended(step, &mut sums));
            for location in walked.rest.iter().rev() {
                for node in self.nodes_of(*location).iter().rev() {
                    let is_first = !std::mem::replace(&mut sums[*node as usize].is_on, true);
                    path.step(NodeOnPath { node: *node, is_first });
                }
                path.end_location();
            }
            if let Some(leaf) = path.leaf(walked.weight, walked.divisor) {
                let node = &mut self.nodes[leaf.node as usize];
                node.flat = node.flat.saturating_add(walked.weight);
                node.flat_divisor = node.flat_divisor.saturating_add(walked.divisor);
            }
        }
        path.back_to(0, |step| NodeOnPath::ended(step, &mut sums));
        for (node, sum) in self.nodes.iter_mut().zip(sums) {
            (node.cum, node.cum_divisor) = (sum.cum, sum.divisor);
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

    /// Nodes that are inlined into another somewhere; some of them several times.
    pub(crate) fn inlined_nodes(&self) -> impl Iterator<Item = u32> {
        let places = self.location_starts.array_windows::<2>();
        let of_location = |[start, end]: &[u32; 2]| *start as usize..end.saturating_sub(1) as usize;
        places.flat_map(move |place| self.location_nodes.get(of_location(place)).unwrap_or(&[])).copied()
    }
}

pub(crate) fn magnitude(value: i64) -> u64 {
    value.unsigned_abs()
}
