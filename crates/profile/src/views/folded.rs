//! `folded`: a line a stack, as flame graph tools take it: `root;caller;leaf 42`.

use super::calls::Rows;
use super::report::PreparedProfile;
use super::{Needs, ProfileView, ViewError};
use std::collections::BTreeMap;
use std::io::Write;

/// The view.
pub(super) static VIEW: ProfileView = ProfileView {
    name: "folded",
    about: "a line a stack (root;caller;leaf 42), as flame graph tools take it",
    needs: Needs { everything: true, ..Needs::NOTHING },
    write,
};

fn write(report: &PreparedProfile<'_>, out: &mut dyn Write) -> Result<(), ViewError> {
    let rows = Rows::new(report);
    let mut lines: BTreeMap<String, i64> = BTreeMap::new();
    for row in &rows.rows {
        let names: Vec<String> = rows.frames(row.stack).map(|node| rows.name(node)).collect();
        let sum = lines.entry(names.join(";")).or_default();
        *sum = sum.saturating_add(row.more).saturating_sub(row.less);
    }
    for (stack, value) in lines.iter().filter(|(stack, value)| !stack.is_empty() && **value != 0) {
        writeln!(out, "{stack} {value}")?;
    }
    Ok(())
}
