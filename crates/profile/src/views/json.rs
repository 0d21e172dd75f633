//! The figures of `top` with the kinds of cost, as JSON (`whyslow.profile/1`): for scripts.

use super::ViewError;
use super::report::PreparedProfile;
use crate::kinds::{Account, Measured, ProfileStacks, sentence};
use serde::Serialize;
use std::io::Write;

/// What of a profile is written.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Summary {
    /// Always `whyslow.profile/1`.
    schema: &'static str,
    /// Who holds most, and what kind of cost it is.
    sentence: String,
    /// What is measured: `cpu`.
    sample_type: String,
    /// In which unit all values are: `nanoseconds`.
    unit: String,
    /// The sum of all values.
    total: f64,
    /// How long it was measured, ns; where the profile tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    duration_ns: Option<i64>,
    /// Kinds of cost, the largest first: they add up to the total.
    kinds: Vec<Kind>,
    /// Functions, in the order of the table.
    functions: Vec<Function>,
    /// Functions that the table leaves out because they are small.
    left_out: usize,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Kind {
    /// What kind of cost it is.
    kind: &'static str,
    /// How much, in `unit`.
    value: f64,
    /// The part of the total, 0 to 1.
    share: f64,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Function {
    /// Its name.
    name: String,
    /// By itself, in `unit`.
    flat: f64,
    /// The part of the total that is, 0 to 1.
    flat_share: f64,
    /// With all that it calls, in `unit`.
    cum: f64,
    /// The part of the total that is, 0 to 1.
    cum_share: f64,
}

/// The schema of what [`write_json`] writes.
#[cfg(feature = "schema")]
pub fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
    generator.root_schema_for::<Summary>()
}

/// Writes the figures of a profile.
///
/// # Errors
/// If it cannot be written.
pub fn write_json(report: &PreparedProfile<'_>, out: &mut dyn Write) -> Result<(), ViewError> {
    let account = Account::of(&ProfileStacks::new(&report.profile, report.value_index));
    let measured = Measured::of(&report.profile, report.value_index);
    let shown = report.trimmed(false);
    let total = report.divided(report.total) as f64;
    let functions = shown.graph.shown.iter().map(|id| {
        let node = shown.graph.node(*id);
        let (flat, cum) = (report.divided(node.flat_value()) as f64, report.divided(node.cum_value()) as f64);
        function(node.info.printable(), flat, cum, total)
    });
    let summary = Summary {
        schema: "whyslow.profile/1",
        sentence: sentence(&account, &measured),
        sample_type: report.sample_type.clone(),
        unit: report.sample_unit.clone(),
        total,
        duration_ns: report.profile.duration_ns.filter(|duration| *duration != 0),
        kinds: kinds(&account),
        functions: functions.collect(),
        left_out: shown.dropped + shown.nodes_before - shown.graph.shown.len(),
    };
    write(&summary, out)
}

/// Writes the figures of a printed table, as far as it has them.
///
/// # Errors
/// If it cannot be written.
pub fn write_table_json(
    account: &Account,
    measured: &Measured,
    out: &mut dyn Write,
) -> Result<(), ViewError> {
    let functions =
        account.functions.iter().map(|row| function(row.name.clone(), row.flat, row.cum, account.total));
    let summary = Summary {
        schema: "whyslow.profile/1",
        sentence: sentence(account, measured),
        sample_type: measured.measure.words().to_string(),
        unit: measured.unit.clone(),
        total: account.total,
        duration_ns: None,
        kinds: kinds(account),
        functions: functions.collect(),
        left_out: 0,
    };
    write(&summary, out)
}

fn write(summary: &Summary, out: &mut dyn Write) -> Result<(), ViewError> {
    serde_json::to_writer_pretty(&mut *out, summary).map_err(std::io::Error::from)?;
    writeln!(out)?;
    Ok(())
}

fn kinds(account: &Account) -> Vec<Kind> {
    let all = account.kinds.iter().filter(|kind| kind.value != 0.0);
    let mut kinds: Vec<Kind> = all
        .map(|kind| Kind { kind: kind.kind.words(), value: kind.value, share: account.part(kind.value) })
        .collect();
    kinds.sort_by(|a, b| b.value.total_cmp(&a.value).then(a.kind.cmp(b.kind)));
    kinds
}

fn function(name: String, flat: f64, cum: f64, total: f64) -> Function {
    let share = |value: f64| if total > 0.0 { value / total } else { 0.0 };
    Function { name, flat, flat_share: share(flat), cum, cum_share: share(cum) }
}
