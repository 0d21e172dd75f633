//! A list of processes with children below their parents.

use super::look::Task;
use std::collections::{BTreeMap, HashSet};
use whyslow_model::Tid;

/// Children below their parents, each level in that order: places in `tasks`, with depths. Whose parent is not among them
/// stands at the top.
pub(super) fn tree(tasks: &[Task], order: &[usize]) -> Vec<(usize, usize)> {
    let known: HashSet<Tid> = order.iter().map(|at| tasks[*at].pid).collect();
    let mut children: BTreeMap<Option<Tid>, Vec<usize>> = BTreeMap::new();
    for &at in order {
        let task = &tasks[at];
        let parent = task.parent.filter(|parent| known.contains(parent) && *parent != task.pid);
        children.entry(parent).or_default().push(at);
    }
    let mut lines = Vec::with_capacity(order.len());
    // A stack, for a chain of processes may be long; a task is taken once, so a circle ends.
    let mut left: Vec<(usize, usize)> =
        children.remove(&None).unwrap_or_default().into_iter().rev().map(|at| (at, 0)).collect();
    while let Some((at, depth)) = left.pop() {
        lines.push((at, depth));
        let below = children.remove(&Some(tasks[at].pid)).unwrap_or_default();
        left.extend(below.into_iter().rev().map(|at| (at, depth + 1)));
    }
    // Circles, of numbers that were given anew between two reads, hang on nothing.
    lines.extend(children.into_values().flatten().map(|at| (at, 0)));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::top::look::tests::task;

    #[test]
    fn a_circle_of_parents_ends() {
        let circle = [task(1, 2, "a", &[]), task(2, 1, "b", &[])];
        assert_eq!(tree(&circle, &[0, 1]).len(), 2);
    }
}
