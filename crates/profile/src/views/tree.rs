//! `tree` and `peek`: each function between those that call it and those that it calls, as pprof prints them.

use super::report::PreparedProfile;
use super::{Needs, ProfileView, ViewError, header};
use crate::graph::Edge;
use crate::select::SelectError;
use crate::units::percentage;
use std::io::Write;

/// All functions that are not too small.
pub(super) static TREE: ProfileView = ProfileView {
    name: "tree",
    about: "each function with its callers above and what it calls below",
    needs: Needs { node_count: 80, ..Needs::NOTHING },
    write,
};

/// Some functions.
pub(super) static PEEK: ProfileView = ProfileView {
    name: "peek",
    about: "the same for the functions that match REGEX",
    needs: Needs { pattern: true, everything: true, ..Needs::NOTHING },
    write,
};

const SEPARATOR: &str = "----------------------------------------------------------+-------------";
const LEGEND: &str = "      flat  flat%   sum%        cum   cum%   calls calls% + context \t \t ";

fn write(report: &PreparedProfile<'_>, out: &mut dyn Write) -> Result<(), ViewError> {
    let shown = report.trimmed(true);
    let is_wanted = |name: &str| report.pattern.as_ref().is_none_or(|pattern| pattern.is_match(name));
    if let Some(pattern) = &report.pattern {
        let mut names = shown.graph.shown.iter().map(|id| shown.graph.node(*id).info.printable());
        if !names.any(|name| is_wanted(&name)) {
            return Err(SelectError::NoMatch(pattern.to_string()).into());
        }
    }
    writeln!(out, "{}\n{SEPARATOR}\n{LEGEND}", header::table_lines(report, &shown).join("\n"))?;
    let mut sum = 0_i64;
    for id in &shown.graph.shown {
        let node = shown.graph.node(*id);
        let name = node.info.printable();
        if !is_wanted(&name) {
            continue;
        }
        let (flat, cum) = (node.flat_value(), node.cum_value());
        let line = |edge: &Edge, other: u32| {
            format!(
                "{:>50} {} |   {}{}",
                report.format(edge.weight, &shown.unit),
                percentage(edge.weight, cum),
                shown.graph.node(other).info.printable(),
                if edge.inlined { " (inline)" } else { "" },
            )
        };
        writeln!(out, "{SEPARATOR}")?;
        for edge in shown.edges.into_node(*id) {
            writeln!(out, "{}", line(edge, edge.source))?;
        }
        sum = sum.saturating_add(flat);
        writeln!(
            out,
            "{:>10} {} {} {:>10} {}                | {name}",
            report.format(flat, &shown.unit),
            percentage(flat, report.total),
            percentage(sum, report.total),
            report.format(cum, &shown.unit),
            percentage(cum, report.total),
        )?;
        for edge in shown.edges.out_of_node(*id) {
            writeln!(out, "{}", line(edge, edge.target))?;
        }
    }
    if !shown.graph.shown.is_empty() {
        writeln!(out, "{SEPARATOR}")?;
    }
    Ok(())
}
