//! The lines above pprof's tables: what the profile is of, which filters apply, what was left out.

use super::report::{PreparedProfile, Trimmed};
use crate::graph::base_name;
use crate::units;
use whyslow_model::profile::Profile;

/// What the profile is of, a line each.
pub(super) fn profile_lines(report: &PreparedProfile<'_>, unit: &str) -> Vec<String> {
    let profile: &Profile = &report.profile;
    let mut lines = Vec::new();
    if let Some(program) = profile.mappings.first() {
        let (file, build_id) = (profile.str(program.file), profile.str(program.build_id));
        lines.extend((!file.is_empty()).then(|| format!("File: {}", base_name(file))));
        lines.extend((!build_id.is_empty()).then(|| format!("Build ID: {build_id}")));
    }
    let comments = profile.comments.iter().map(|id| profile.str(*id));
    lines.extend(comments.filter(|text| !text.starts_with('#')).map(String::from));
    if !report.sample_type.is_empty() {
        lines.push(format!("Type: {}", report.sample_type));
    }
    let documentation = profile.str(profile.doc_url);
    lines.extend((!documentation.is_empty()).then(|| format!("Doc: {documentation}")));
    lines.extend(profile.time_ns.filter(|time| *time != 0).map(|time| format!("Time: {}", local_time(time))));
    if let Some(duration) = profile.duration_ns.filter(|duration| *duration != 0) {
        let (total, total_unit) = units::scale(report.total, &report.sample_unit, "nanoseconds");
        let ratio = match total as i64 {
            total if total_unit == "ns" && total != 0 => format!("({})", units::percentage(total, duration)),
            _ => String::new(),
        };
        lines.push(format!(
            "Duration: {}, Total samples = {} {ratio}",
            units::label(duration, "nanoseconds"),
            report.format(report.total, unit)
        ));
    }
    lines
}

/// All lines above a table.
pub(super) fn table_lines(report: &PreparedProfile<'_>, shown: &Trimmed) -> Vec<String> {
    let selection = report.selection;
    let mut lines = if selection.compact_labels { Vec::new() } else { profile_lines(report, &shown.unit) };
    let filters = [
        ("focus", &selection.frames.focus),
        ("ignore", &selection.frames.ignore),
        ("hide", &selection.frames.hide),
        ("show", &selection.frames.show),
        ("show_from", &selection.frames.show_from),
        ("tagfocus", &selection.tags.focus),
        ("tagignore", &selection.tags.ignore),
        ("tagshow", &selection.tags.show),
        ("taghide", &selection.tags.hide),
    ];
    let active: Vec<_> = filters.iter().filter(|(_, value)| !value.is_empty()).collect();
    if !active.is_empty() {
        lines.push("Active filters:".to_string());
        lines.extend(
            active.iter().map(|(name, value)| format!("   {}", shortened(format!("{name}={value}")))),
        );
    }
    let graph = &shown.graph;
    let flat = graph.shown.iter().fold(0_i64, |sum, id| sum.saturating_add(graph.node(*id).flat_value()));
    lines.push(format!(
        "Showing nodes accounting for {}, {} of {} total",
        report.format(flat, &shown.unit),
        units::percentage(flat, report.total).trim(),
        report.format(report.total, &shown.unit)
    ));
    if report.total != 0 {
        if shown.dropped > 0 {
            let cutoff = ((report.total as f64 * selection.node_fraction) as i64).saturating_abs();
            let plural = if shown.dropped > 1 { "s" } else { "" };
            let cutoff = report.format(cutoff, &shown.unit);
            lines.push(format!("Dropped {} node{plural} (cum <= {cutoff})", shown.dropped));
        }
        if !graph.shown.is_empty() && graph.shown.len() < shown.nodes_before {
            lines.push(format!("Showing top {} nodes out of {}", graph.shown.len(), shown.nodes_before));
        }
    }
    lines
}

/// A filter's first 80 bytes.
fn shortened(filter: String) -> String {
    const WIDTH: usize = 80;
    if filter.len() <= WIDTH {
        return filter;
    }
    format!("{}…", &filter[..filter.floor_char_boundary(WIDTH)])
}

/// A time of the machine's zone, as pprof prints it: `2006-01-02 15:04:05 MST`.
fn local_time(ns: i64) -> String {
    let Ok(time) = jiff::Timestamp::from_nanosecond(ns.into()) else { return "unknown".to_string() };
    let zoned = time.to_zoned(jiff::tz::TimeZone::system());
    zoned.strftime("%Y-%m-%d %H:%M:%S %Z").to_string()
}

/// A time as Go prints it by default: `2006-01-02 15:04:05.999999999 -0700 MST`.
pub(super) fn exact_time(ns: i64) -> String {
    let Ok(time) = jiff::Timestamp::from_nanosecond(ns.into()) else { return "unknown".to_string() };
    let zoned = time.to_zoned(jiff::tz::TimeZone::system());
    zoned.strftime("%Y-%m-%d %H:%M:%S%.f %z %Z").to_string()
}
