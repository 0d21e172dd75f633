//! `raw`: all that a profile holds, as pprof prints it.

use super::report::PreparedProfile;
use super::{Needs, ProfileView, ViewError};
use crate::graph::Granularity;
use crate::names;
use std::collections::BTreeMap;
use std::io::Write;
use whyslow_model::profile::{Label, LabelValue, LocationId, Profile};

/// The view.
pub(super) static VIEW: ProfileView = ProfileView {
    name: "raw",
    about: "all that the profile holds, unsorted",
    needs: Needs {
        everything: true,
        granularity: Some(Granularity::Addresses),
        objects: true,
        ..Needs::NOTHING
    },
    write,
};

fn write(report: &PreparedProfile<'_>, out: &mut dyn Write) -> Result<(), ViewError> {
    let profile: &Profile = &report.profile;
    head(profile, out)?;
    writeln!(out, "Samples:")?;
    let default = profile.default_sample_type;
    let types: Vec<String> = profile
        .sample_types
        .iter()
        .enumerate()
        .map(|(index, value)| {
            let mark = if default == Some(index) { "[dflt]" } else { "" };
            format!("{}/{}{mark}", profile.str(value.kind), profile.str(value.unit))
        })
        .collect();
    writeln!(out, "{}", types.join(" "))?;
    for sample in profile.samples() {
        for value in sample.values {
            write!(out, " {value:>10}")?;
        }
        write!(out, ": ")?;
        for location in sample.stack {
            write!(out, "{} ", location.0 + 1)?;
        }
        writeln!(out)?;
        labels(profile, sample.labels, out)?;
    }
    writeln!(out, "Locations")?;
    for id in 0..profile.locations.len() {
        location(profile, LocationId(id as u32), report.selection.no_inlines, out)?;
    }
    writeln!(out, "Mappings")?;
    for (id, mapping) in profile.mappings.iter().enumerate() {
        let marks = [
            (mapping.has_functions, "[FN]"),
            (mapping.has_filenames, "[FL]"),
            (mapping.has_line_numbers, "[LN]"),
            (mapping.has_inline_frames, "[IN]"),
        ];
        let marks: String = marks.iter().filter(|(has, _)| *has).map(|(_, mark)| *mark).collect();
        writeln!(
            out,
            "{}: {:#x}/{:#x}/{:#x} {} {} {marks}",
            id + 1,
            mapping.start,
            mapping.limit,
            mapping.offset,
            profile.str(mapping.file),
            profile.str(mapping.build_id),
        )?;
    }
    Ok(())
}

fn head(profile: &Profile, out: &mut dyn Write) -> std::io::Result<()> {
    for comment in &profile.comments {
        writeln!(out, "Comment: {}", profile.str(*comment))?;
    }
    let documentation = profile.str(profile.doc_url);
    if !documentation.is_empty() {
        writeln!(out, "Doc: {documentation}")?;
    }
    let of = profile.period_type.unwrap_or_default();
    writeln!(out, "PeriodType: {} {}", profile.str(of.kind), profile.str(of.unit))?;
    writeln!(out, "Period: {}", profile.period.unwrap_or(0))?;
    if let Some(time) = profile.time_ns.filter(|time| *time != 0) {
        writeln!(out, "Time: {}", super::header::exact_time(time))?;
    }
    if let Some(duration) = profile.duration_ns.filter(|duration| *duration != 0) {
        writeln!(out, "Duration: {}", cut_duration(duration))?;
    }
    Ok(())
}

/// Go's `%.4v` of a duration: its text (`4h35m22s`, `1.5s`, `30.1ms`), cut to four characters.
fn cut_duration(ns: i64) -> String {
    const SHOWN: usize = 4;
    let sign = if ns < 0 { "-" } else { "" };
    let ns = ns.unsigned_abs();
    let fraction = |whole: u64, rest: u64, digits: usize, unit: &str| {
        let rest = format!("{rest:0digits$}");
        let rest = rest.trim_end_matches('0');
        if rest.is_empty() { format!("{whole}{unit}") } else { format!("{whole}.{rest}{unit}") }
    };
    let text = match ns {
        0..1_000 => format!("{ns}ns"),
        1_000..1_000_000 => fraction(ns / 1_000, ns % 1_000, 3, "µs"),
        1_000_000..1_000_000_000 => fraction(ns / 1_000_000, ns % 1_000_000, 6, "ms"),
        _ => {
            let (seconds, rest) = (ns / 1_000_000_000, ns % 1_000_000_000);
            let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
            let seconds = fraction(seconds % 60, rest, 9, "s");
            match (hours, minutes) {
                (0, 0) => seconds,
                (0, minutes) => format!("{minutes}m{seconds}"),
                (hours, minutes) => format!("{hours}h{minutes}m{seconds}"),
            }
        }
    };
    format!("{sign}{text}").chars().take(SHOWN).collect()
}

fn labels(profile: &Profile, labels: &[Label], out: &mut dyn Write) -> std::io::Result<()> {
    const INDENT: &str = "                ";
    let mut texts: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut numbers: BTreeMap<&str, Vec<(i64, &str)>> = BTreeMap::new();
    for label in labels {
        let key = profile.str(label.key);
        match label.value {
            LabelValue::Text(value) => texts.entry(key).or_default().push(profile.str(value)),
            LabelValue::Number(number, unit) => {
                numbers.entry(key).or_default().push((number, profile.str(unit)))
            }
        }
    }
    let mut lines = [
        texts.iter().map(|(key, values)| format!("{key}:[{}]", values.join(" "))).collect::<Vec<_>>(),
        numbers
            .iter()
            .map(|(key, values)| {
                let has_units = values.iter().any(|(_, unit)| !unit.is_empty());
                let values = values.iter().map(|(number, unit)| match has_units {
                    true => format!("{number} {unit}"),
                    false => number.to_string(),
                });
                format!("{key}:[{}]", values.collect::<Vec<_>>().join(" "))
            })
            .collect(),
    ];
    for line in &mut lines {
        line.sort();
        if !line.is_empty() {
            writeln!(out, "{INDENT}{}", line.join(" "))?;
        }
    }
    Ok(())
}

fn location(profile: &Profile, id: LocationId, no_inlines: bool, out: &mut dyn Write) -> std::io::Result<()> {
    let location = profile.locations[id.0 as usize];
    let mapping = location.mapping.map(|mapping| format!("M={} ", mapping.0 + 1)).unwrap_or_default();
    let folded = if location.is_folded { "[F] " } else { "" };
    let mut start = format!("{:>6}: {:#x} {mapping}{folded}", id.0 + 1, location.address);
    let lines = profile.lines_of(id);
    let lines = if no_inlines { &lines[lines.len().saturating_sub(1)..] } else { lines };
    if lines.is_empty() {
        return writeln!(out, "{start}");
    }
    for line in lines {
        match line.function.and_then(|function| profile.function(function)) {
            None => writeln!(out, "{start}??")?,
            Some(function) => {
                let name = names::shown(profile, function.name, function.system_name);
                let system = profile.str(function.system_name);
                let symbol = if name == system { String::new() } else { format!("({system})") };
                let file = profile.str(function.file);
                let start_line = function.start_line;
                writeln!(out, "{start}{name} {file}:{}:{} s={start_line}{symbol}", line.line, line.column)?;
            }
        }
        start = " ".repeat(13);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_cut_as_go_cuts_them() {
        assert_eq!(cut_duration(16_522_000_000_000), "4h35");
        assert_eq!(cut_duration(30_123_000_000), "30.1");
        assert_eq!(cut_duration(1_500_000), "1.5m");
        assert_eq!(cut_duration(10_000_000_000), "10s");
        assert_eq!(cut_duration(5), "5ns");
    }
}
