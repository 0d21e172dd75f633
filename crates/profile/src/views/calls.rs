//! The stacks of a profile as a tree of calls, and as rows: what flame graphs and other tools' formats are made from.

use super::report::PreparedProfile;
use crate::graph::CallGraph;
use hashbrown::HashMap;
use whyslow_model::profile::{CallStackId, Profile};

/// A stack with its values.
pub(super) struct Row {
    pub(super) stack: CallStackId,
    /// The sum of the samples above 0, and of those below, as a positive number: a base that was subtracted.
    pub(super) more: i64,
    pub(super) less: i64,
}

/// Stacks with their values, and the nodes that their frames are.
pub(super) struct Rows<'r> {
    profile: &'r Profile,
    pub(super) graph: CallGraph,
    pub(super) rows: Vec<Row>,
}

impl<'r> Rows<'r> {
    pub(super) fn new(report: &'r PreparedProfile<'_>) -> Rows<'r> {
        let profile: &Profile = &report.profile;
        let mut sums = vec![(0_i64, 0_i64); profile.stack_count()];
        for sample in profile.samples() {
            let Some((more, less)) = sums.get_mut(sample.stack_id.0 as usize) else { continue };
            match report.divided(sample.values[report.value_index]) {
                value if value < 0 => *less = less.saturating_add(value.saturating_neg()),
                value => *more = more.saturating_add(value),
            }
        }
        let rows = sums.iter().enumerate().filter(|(_, sums)| **sums != (0, 0));
        let rows =
            rows.map(|(id, (more, less))| Row { stack: CallStackId(id as u32), more: *more, less: *less });
        Rows { profile, graph: CallGraph::places(profile, &report.shape()), rows: rows.collect() }
    }

    /// The nodes of a stack's frames, the root first.
    pub(super) fn frames(&self, stack: CallStackId) -> impl Iterator<Item = u32> {
        let locations = self.profile.stack(stack).iter().rev();
        locations.flat_map(|location| self.graph.nodes_of(*location).iter().rev().copied())
    }

    /// A node's name in a text where `;` parts frames and lines part stacks.
    pub(super) fn name(&self, node: u32) -> String {
        self.graph.node(node).info.printable().replace([';', '\n', '\r'], ":")
    }
}

/// A call in a tree.
pub(super) struct Call {
    /// The node; `None` for the root, which is all.
    pub(super) node: Option<u32>,
    pub(super) parent: u32,
    pub(super) more: i64,
    pub(super) less: i64,
}

/// A tree of calls; a parent stands before its children. The first is all.
pub(super) struct CallTree {
    pub(super) calls: Vec<Call>,
    children: HashMap<(u32, u32), u32, foldhash::fast::FixedState>,
}

impl Default for CallTree {
    fn default() -> CallTree {
        let all = Call { node: None, parent: 0, more: 0, less: 0 };
        CallTree { calls: vec![all], children: HashMap::default() }
    }
}

impl CallTree {
    /// Adds a path with its values.
    pub(super) fn add(&mut self, path: impl Iterator<Item = u32>, more: i64, less: i64) {
        let mut at = 0_u32;
        self.weigh(at, more, less);
        for node in path {
            let calls = &mut self.calls;
            at = *self.children.entry((at, node)).or_insert_with(|| {
                calls.push(Call { node: Some(node), parent: at, more: 0, less: 0 });
                calls.len() as u32 - 1
            });
            self.weigh(at, more, less);
        }
    }

    fn weigh(&mut self, at: u32, more: i64, less: i64) {
        let call = &mut self.calls[at as usize];
        call.more = call.more.saturating_add(more);
        call.less = call.less.saturating_add(less);
    }
}
