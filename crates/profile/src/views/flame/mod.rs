//! `flame`: a flame graph as one HTML file that needs nothing else: zoom, search, upside down, and by leaf. Where a base was
//! subtracted, or two profiles are compared, it is a differential one: red is what became more, blue what became less.

mod svg;

pub(super) use svg::VIEW as SVG;

use super::calls::{Call, CallTree, Rows};
use super::report::PreparedProfile;
use super::{Needs, ProfileView, ViewError};
use crate::select::StackSelection;
use crate::units;
use hashbrown::HashMap;
use serde::Serialize;
use std::io::Write;
use whyslow_model::profile::Profile;

/// The view.
pub(super) static VIEW: ProfileView = ProfileView {
    name: "flame",
    about: "a flame graph as one HTML file (with -o FILE); with a base, what became more and less",
    needs: Needs { everything: true, escapes: true, ..Needs::NOTHING },
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

fn write(report: &PreparedProfile<'_>, out: &mut dyn Write) -> Result<(), ViewError> {
    let rows = Rows::new(report);
    let mut tree = CallTree::default();
    for row in &rows.rows {
        tree.add(rows.frames(row.stack), row.more, row.less);
    }
    let title = format!("{} {}", report.sample_type, units::label(tree.calls[0].more, &report.sample_unit));
    let about = super::header::profile_lines(report, units::AUTO);
    page(title, about, &report.sample_unit, &tree.calls, |node| rows.graph.node(node).info.printable(), out)
}

/// What became more and less from `before` to `after`. The values before are multiplied by `scale`, so that both stand for the
/// same time or work; `about` says what is compared.
///
/// # Errors
/// If a profile has no value, or `out` cannot be written to.
pub fn write_difference(
    before: &Profile,
    after: &Profile,
    scale: f64,
    about: Vec<String>,
    out: &mut dyn Write,
) -> Result<(), ViewError> {
    let selection = StackSelection::default();
    let (before, after) = (
        PreparedProfile::new(before, &selection, &VIEW, None)?,
        PreparedProfile::new(after, &selection, &VIEW, None)?,
    );
    // Each profile numbers its nodes for itself: equal names are one.
    let (mut numbers, mut names) = (HashMap::new(), Vec::new());
    let mut tree = CallTree::default();
    for (report, is_after) in [(&before, false), (&after, true)] {
        let rows = Rows::new(report);
        let of_node = |node| {
            let name = rows.graph.node(node).info.printable();
            *numbers.entry(name).or_insert_with_key(|name: &String| {
                names.push(name.clone());
                names.len() as u32 - 1
            })
        };
        let nodes: Vec<u32> = (0..rows.graph.nodes.len() as u32).map(of_node).collect();
        for row in &rows.rows {
            let (more, less) = if is_after { (row.more, 0) } else { (0, row.more) };
            tree.add(rows.frames(row.stack).map(|node| nodes[node as usize]), more, less);
        }
    }
    for call in &mut tree.calls {
        call.less = (call.less as f64 * scale).round() as i64;
    }
    let label = |value| units::label(value, &after.sample_unit);
    let (less, more) = (tree.calls[0].less, tree.calls[0].more);
    let title = format!("{}: {} \u{2192} {}", after.sample_type, label(less), label(more));
    page(title, about, &after.sample_unit, &tree.calls, |node| names[node as usize].clone(), out)
}

/// Writes the page of a tree of calls.
fn page(
    title: String,
    about: Vec<String>,
    unit: &str,
    calls: &[Call],
    name_of: impl Fn(u32) -> String,
    out: &mut dyn Write,
) -> Result<(), ViewError> {
    let whole = calls[0].more.max(calls[0].less) as f64;
    let mut data = Data {
        title,
        about,
        unit: unit.to_string(),
        scales: scales(unit),
        names: vec!["all".to_string()],
        node: Vec::new(),
        parent: Vec::new(),
        more: Vec::new(),
        less: Vec::new(),
        left_out: 0,
    };
    // The numbers of calls and nodes among those that are drawn.
    let mut drawn: Vec<Option<u32>> = vec![None; calls.len()];
    let mut names: HashMap<u32, u32> = HashMap::new();
    for (at, call) in calls.iter().enumerate() {
        let parent = drawn[call.parent as usize];
        let is_large = call.more.max(call.less) as f64 >= whole * SMALLEST;
        if at != 0 && (parent.is_none() || !is_large) {
            data.left_out += 1;
            continue;
        }
        let name = match call.node {
            None => 0,
            Some(node) => *names.entry(node).or_insert_with(|| {
                data.names.push(name_of(node));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::{Limits, ProfileData, read};

    fn profile(text: &str) -> Profile {
        match read(text.as_bytes(), "x", Limits::default()).unwrap().data {
            ProfileData::Stacks(profile) => profile,
            ProfileData::Table(_) => panic!("stacks"),
        }
    }

    #[test]
    fn a_difference_has_both_sides_of_each_call() {
        let before = profile("main;parse 10\nmain;send 4\n");
        let after = profile("main;send 8\nmain;a</script 6\n");
        let mut page = Vec::new();
        write_difference(&before, &after, 2.0, vec!["a & b".to_string()], &mut page).unwrap();
        let page = String::from_utf8(page).unwrap();
        assert!(!page.contains("a</script") && page.contains("a & b"));
        let json = page.split_once("id=\"data\">").unwrap().1.split_once("</script>").unwrap().0;
        let data: serde_json::Value = serde_json::from_str(json).unwrap();
        let names: Vec<&str> = data["node"]
            .as_array()
            .unwrap()
            .iter()
            .map(|at| data["names"][at.as_u64().unwrap() as usize].as_str().unwrap())
            .collect();
        assert_eq!(names, ["all", "main", "parse", "send", "a</script"]);
        assert_eq!(data["more"], serde_json::json!([14, 14, 0, 8, 6]));
        assert_eq!(data["less"], serde_json::json!([28, 28, 20, 8, 0]));
    }
}
