//! `tags`: what the values of each label cost, as pprof prints it.

use super::report::PreparedProfile;
use super::{Needs, ProfileView, ViewError};
use crate::graph::magnitude;
use crate::select::number_units;
use crate::units::{self, percentage};
use std::collections::BTreeMap;
use std::io::Write;
use whyslow_model::profile::{LabelValue, Profile};

/// The view.
pub(super) static VIEW: ProfileView = ProfileView {
    name: "tags",
    about: "what each label's values cost",
    needs: Needs { node_count: 80, ..Needs::NOTHING },
    write,
};

fn write(report: &PreparedProfile<'_>, out: &mut dyn Write) -> Result<(), ViewError> {
    let profile: &Profile = &report.profile;
    let unit = &report.selection.unit;
    let units = number_units(profile);
    let mut sets = vec![None::<i64>; profile.label_set_count()];
    for sample in profile.samples() {
        if let Some(sum) = sets.get_mut(sample.label_set.0 as usize) {
            let value = sample.values[report.value_index];
            *sum = Some(sum.unwrap_or(0).saturating_add(value));
        }
    }
    let mut keys: BTreeMap<&str, BTreeMap<String, i64>> = BTreeMap::new();
    for (id, sum) in sets.iter().enumerate() {
        let Some(sum) = sum else { continue };
        for label in profile.labels(whyslow_model::profile::LabelSetId(id as u32)) {
            let key = profile.str(label.key);
            let value = match label.value {
                LabelValue::Text(value) => profile.str(value).to_string(),
                LabelValue::Number(number, _) => {
                    units::scaled_label(number, units.get(key).copied().unwrap_or(key), unit)
                }
            };
            let total = keys.entry(key).or_default().entry(value).or_default();
            *total = total.saturating_add(*sum);
        }
    }
    let share = |value: i64| match report.total {
        total if total > 0 => format!(" ({})", percentage(value, total)),
        _ => String::new(),
    };
    // Rows of two cells and what stands behind them; a row without cells ends a table.
    let mut rows: Vec<Option<(String, String, String)>> = Vec::new();
    for (key, values) in &keys {
        let total = values.values().fold(0_i64, |sum, value| sum.saturating_add(*value));
        let of = format!(
            " Total {} of {}{}",
            report.format(total, unit),
            report.format(report.total, unit),
            share(total)
        );
        rows.push(Some((format!("{key}:"), String::new(), of)));
        let mut sorted: Vec<(&String, &i64)> = values.iter().collect();
        sorted.sort_by(|a, b| magnitude(*b.1).cmp(&magnitude(*a.1)).then_with(|| a.0.cmp(b.0)));
        for (value, cost) in sorted {
            let cell = format!("{}{}:", report.format(*cost, unit), share(*cost));
            rows.push(Some((" ".to_string(), cell, format!(" {value}"))));
        }
        rows.push(None);
    }
    aligned(&rows, out)?;
    Ok(())
}

/// Writes tables with cells aligned to the right, one space wider than the widest of a run of rows that have the cell, as
/// Go's `text/tabwriter` does.
fn aligned(rows: &[Option<(String, String, String)>], out: &mut dyn Write) -> std::io::Result<()> {
    for table in rows.split(Option::is_none) {
        let cells = || table.iter().flatten();
        let wide = |text: &str| text.chars().count() + 1;
        let first = cells().map(|row| wide(&row.0)).max().unwrap_or(0);
        let second = cells().filter(|row| !row.1.is_empty()).map(|row| wide(&row.1)).max().unwrap_or(0);
        if table.is_empty() {
            continue;
        }
        for (key, cost, rest) in cells() {
            match cost.is_empty() {
                true => writeln!(out, "{key:>first$}{rest}")?,
                false => writeln!(out, "{key:>first$}{cost:>second$}{rest}")?,
            }
        }
        writeln!(out)?;
    }
    Ok(())
}
