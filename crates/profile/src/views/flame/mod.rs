//! `flame`: a flame graph as one HTML file that needs nothing else: zoom, search, upside down, and by leaf. Where a base was
//! subtracted it is a differential one: red is what became more, blue what became less.

use super::calls::{CallTree, Rows};
use super::report::Report;
use super::{Needs, ProfileView, ViewError};
use crate::units;
use serde::Serialize;
use std::io::Write;

/// The view.
pub(super) static VIEW: ProfileView = ProfileView {
    name: "flame",
    about: "a flame graph as one HTML file (with -o FILE); with a base, what became more and less",
    needs: Needs { everything: true, ..Needs::NOTHING },
    write,
};

/// The page; `/*DATA*/` stands where the data goes.
const PAGE: &str = include_str!("page.html");
/// Calls of less than this part of the whole are not drawn: less than a tenth of a pixel.
const SMALLEST: f64 = 0.000_05;

/// What the page draws. Calls stand parents first; the first is all.
#[derive(Serialize)]
struct Data {
    title: String,
    about: Vec<String>,
    unit: String,
    /// What one of the unit is worth for a label: factor and name, the largest first.
    scales: Vec<(f64, String)>,
    names: Vec<String>,
    node: Vec<u32>,
    parent: Vec<u32>,
    more: Vec<i64>,
    less: Vec<i64>,
    left_out: usize,
}

fn write(report: &Report<'_>, out: &mut dyn Write) -> Result<(), ViewError> {
    let rows = Rows::new(report);
    let mut tree = CallTree::default();
    for row in &rows.rows {
        tree.add(rows.frames(row.stack), row.more, row.less);
    }
    let whole = tree.calls[0].more.max(tree.calls[0].less) as f64;
    let mut data = Data {
        title: format!("{} {}", report.sample_type, units::label(tree.calls[0].more, &report.sample_unit)),
        about: super::header::profile_lines(report, units::AUTO),
        unit: report.sample_unit.clone(),
        scales: scales(&report.sample_unit),
        names: vec!["all".to_string()],
        node: Vec::new(),
        parent: Vec::new(),
        more: Vec::new(),
        less: Vec::new(),
        left_out: 0,
    };
    // The numbers of calls and nodes among those that are drawn.
    let mut drawn: Vec<Option<u32>> = vec![None; tree.calls.len()];
    let mut names: Vec<Option<u32>> = vec![None; rows.graph.nodes.len()];
    for (at, call) in tree.calls.iter().enumerate() {
        let parent = drawn[call.parent as usize];
        let is_large = call.more.max(call.less) as f64 >= whole * SMALLEST;
        if at != 0 && (parent.is_none() || !is_large) {
            data.left_out += 1;
            continue;
        }
        let name = match call.node {
            None => 0,
            Some(node) => *names[node as usize].get_or_insert_with(|| {
                data.names.push(rows.graph.node(node).info.printable());
                data.names.len() as u32 - 1
            }),
        };
        drawn[at] = Some(data.node.len() as u32);
        data.node.push(name);
        data.parent.push(parent.unwrap_or(0));
        data.more.push(call.more);
        data.less.push(call.less);
    }
    // In a script element nothing but `<` could end the script.
    let json = serde_json::to_string(&data).map_err(std::io::Error::from)?;
    let json = json.replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029");
    let (head, tail) = PAGE.split_once("/*DATA*/").unwrap_or((PAGE, ""));
    write!(out, "{head}{json}{tail}")?;
    Ok(())
}

/// How values of a unit are written.
fn scales(unit: &str) -> Vec<(f64, String)> {
    let steps: [i64; 5] = [1_000_000_000_000, 1_000_000_000, 1_000_000, 1_000, 1];
    let mut scales: Vec<(f64, String)> = Vec::new();
    for step in steps {
        let (scaled, name) = units::scale(step, unit, units::AUTO);
        let factor = if scaled == 0.0 { 1.0 } else { step as f64 / scaled };
        if scales.iter().all(|(_, known)| *known != name) {
            scales.push((factor, name));
        }
    }
    scales
}
