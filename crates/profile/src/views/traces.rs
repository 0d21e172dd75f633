//! `traces`: all samples with their stacks, as pprof prints them.

use super::report::PreparedProfile;
use super::{Needs, ProfileView, ViewError, header};
use crate::graph::CallGraph;
use crate::select::number_units;
use crate::units;
use std::collections::BTreeMap;
use std::io::Write;
use whyslow_model::profile::{Label, LabelValue, Profile};

/// The view.
pub(super) static VIEW: ProfileView = ProfileView {
    name: "traces",
    about: "all samples with their stacks and labels",
    needs: Needs { node_count: 80, ..Needs::NOTHING },
    write,
};

const SEPARATOR: &str = "-----------+-------------------------------------------------------";

fn write(report: &PreparedProfile<'_>, out: &mut dyn Write) -> Result<(), ViewError> {
    let profile: &Profile = &report.profile;
    let selection = report.selection;
    let unit = &selection.unit;
    writeln!(out, "{}", header::profile_lines(report, unit).join("\n"))?;
    let mut shape = report.shape();
    shape.trim_path = String::new();
    shape.source_path = String::new();
    let graph = CallGraph::places(profile, &shape);
    let units = number_units(profile);
    let mut labels = Vec::new();
    for sample in profile.samples() {
        let places = || {
            sample.stack.iter().flat_map(|location| {
                let nodes = graph.nodes_of(*location);
                nodes.iter().enumerate().map(move |(at, node)| (*node, at + 1 != nodes.len()))
            })
        };
        if places().next().is_none() {
            continue;
        }
        writeln!(out, "{SEPARATOR}")?;
        labels.clear();
        label_lines(profile, sample.labels, &units, &mut labels);
        for line in &labels {
            writeln!(out, "{line}")?;
        }
        let value = sample.values[report.value_index];
        let divisor = if selection.mean { sample.values[0] } else { 0 };
        let mut value = report.format(value.checked_div(divisor).unwrap_or(value), unit);
        for (node, inlined) in places() {
            let note = if inlined { " (inline)" } else { "" };
            writeln!(out, "{value:>10}   {}{note}", graph.node(node).info.printable())?;
            value.clear();
        }
    }
    writeln!(out, "{SEPARATOR}")?;
    Ok(())
}

/// A line a key: the texts, then the numbers, each in the order of the printed lines.
fn label_lines(profile: &Profile, labels: &[Label], units: &BTreeMap<&str, &str>, lines: &mut Vec<String>) {
    let mut texts: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut numbers: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for label in labels {
        let key = profile.str(label.key);
        match label.value {
            LabelValue::Text(value) => texts.entry(key).or_default().push(profile.str(value).to_string()),
            LabelValue::Number(number, _) => {
                let unit = units.get(key).copied().unwrap_or(key);
                numbers.entry(key).or_default().push(units::label(number, unit));
            }
        }
    }
    for of_kind in [texts, numbers] {
        let mut printed: Vec<String> =
            of_kind.iter().map(|(key, values)| format!("{key:>10}:  {}", values.join(" "))).collect();
        printed.sort();
        lines.extend(printed);
    }
}
