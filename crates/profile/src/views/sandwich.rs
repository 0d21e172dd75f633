//! `sandwich`: a function between all that leads to it and all that it leads to, as trees.
//!
//! Of each stack the outermost frame that matches counts: all values are parts of the same sum, and recursion counts once.

use super::calls::{CallTree, Rows};
use super::report::PreparedProfile;
use super::{Needs, ProfileView, ViewError, header};
use crate::select::SelectError;
use crate::units::percentage;
use std::io::Write;

/// The view.
pub(super) static VIEW: ProfileView = ProfileView {
    name: "sandwich",
    about: "the functions that match REGEX: the tree of their callers, and that of what they call",
    needs: Needs { pattern: true, everything: true, ..Needs::NOTHING },
    write,
};

/// Deeper calls are left out: such a tree is recursion.
const DEEPEST: usize = 48;
/// Lines of each tree, unless another number is asked for.
const LINES: usize = 60;

fn write(report: &PreparedProfile<'_>, out: &mut dyn Write) -> Result<(), ViewError> {
    let Some(pattern) = &report.pattern else { return Err(SelectError::NoPattern(VIEW.name).into()) };
    let rows = Rows::new(report);
    let matched: Vec<bool> =
        rows.graph.nodes.iter().map(|node| pattern.is_match(&node.info.printable())).collect();
    let (mut callers, mut callees) = (CallTree::default(), CallTree::default());
    let mut own = 0_i64;
    let mut stack = Vec::new();
    for row in &rows.rows {
        stack.clear();
        stack.extend(rows.frames(row.stack));
        let Some(at) = stack.iter().position(|node| matched[*node as usize]) else { continue };
        callers.add(stack[..=at].iter().rev().copied(), row.more, row.less);
        callees.add(stack[at..].iter().copied(), row.more, row.less);
        if at + 1 == stack.len() {
            own = own.saturating_add(row.more).saturating_sub(row.less);
        }
    }
    if callers.calls.len() == 1 {
        return Err(SelectError::NoMatch(pattern.to_string()).into());
    }
    let unit = &report.selection.unit;
    let all = &callers.calls[0];
    let sum = all.more.saturating_sub(all.less);
    let total = report.divided(report.total);
    let label = |value: i64| crate::units::scaled_label(value, &report.sample_unit, unit);
    writeln!(out, "{}", header::profile_lines(report, unit).join("\n"))?;
    writeln!(
        out,
        "{pattern} and all it calls: {}, {} of {}; itself: {}",
        label(sum),
        percentage(sum, total).trim(),
        label(total),
        label(own)
    )?;
    for (title, tree) in [("Callers", &callers), ("Callees", &callees)] {
        writeln!(out, "\n{title}\n{:>10} {:>6}", "value", "of it")?;
        tree_lines(report, &rows, tree, sum, out)?;
    }
    Ok(())
}

/// A tree, the heaviest first, each call two columns further in than its parent.
fn tree_lines(
    report: &PreparedProfile<'_>,
    rows: &Rows<'_>,
    tree: &CallTree,
    sum: i64,
    out: &mut dyn Write,
) -> Result<(), ViewError> {
    let selection = report.selection;
    let value = |at: u32| tree.calls[at as usize].more.saturating_sub(tree.calls[at as usize].less);
    let mut children: Vec<Vec<u32>> = vec![Vec::new(); tree.calls.len()];
    for (at, call) in tree.calls.iter().enumerate().skip(1) {
        children[call.parent as usize].push(at as u32);
    }
    let cutoff = if selection.trim { (sum as f64 * selection.node_fraction).abs() } else { 0.0 };
    let most = match selection.node_count {
        Some(0) => usize::MAX,
        Some(count) => count,
        None => LINES,
    };
    let (mut lines, mut left_out) = (0, 0);
    // What is still to be printed, the next last.
    let mut open: Vec<(u32, usize)> = vec![(0, 0)];
    while let Some((at, depth)) = open.pop() {
        if at != 0 {
            if lines >= most || depth > DEEPEST || (value(at) as f64).abs() < cutoff {
                left_out += 1;
                continue;
            }
            lines += 1;
            let name = tree.calls[at as usize].node.map(|node| rows.name(node)).unwrap_or_default();
            let label = crate::units::scaled_label(value(at), &report.sample_unit, &selection.unit);
            writeln!(out, "{label:>10} {} {}{name}", percentage(value(at), sum), "  ".repeat(depth))?;
        }
        let mut below = std::mem::take(&mut children[at as usize]);
        below.sort_by_key(|at| (value(*at).unsigned_abs(), std::cmp::Reverse(*at)));
        open.extend(below.into_iter().map(|below| (below, if at == 0 { 0 } else { depth + 1 })));
    }
    if left_out > 0 {
        writeln!(out, "{:>10} {left_out} smaller or deeper left out", "")?;
    }
    Ok(())
}
