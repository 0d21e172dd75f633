//! `list`: what each line of a function costs, beside its source, as pprof prints it. pprof stops where the source is not
//! there; here the numbers of the lines come all the same.

use super::report::PreparedProfile;
use super::{Needs, ProfileView, ViewError};
use crate::graph::{Granularity, Node, Shape, trimmed};
use crate::select::SelectError;
use crate::units::percentage;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use whyslow_model::visible;

/// The view.
pub(super) static VIEW: ProfileView = ProfileView {
    name: "list",
    about: "what each line of the functions that match REGEX costs, with the source where it is found",
    needs: Needs {
        pattern: true,
        everything: true,
        granularity: Some(Granularity::Lines),
        objects: true,
        ..Needs::NOTHING
    },
    write,
};

/// Lines that are shown before the first and behind the last that costs.
const MARGIN: i64 = 5;
/// A line of source is cut here, and a source file that is larger is not read: it is none that anybody wrote.
const LONGEST_SOURCE: u64 = 64 << 20;

fn write(report: &PreparedProfile<'_>, out: &mut dyn Write) -> Result<(), ViewError> {
    let Some(pattern) = &report.pattern else { return Err(SelectError::NoPattern(VIEW.name).into()) };
    let graph = report.full_graph(&report.weights());
    let mut functions: BTreeMap<&str, BTreeMap<&str, Vec<&Node>>> = BTreeMap::new();
    for id in &graph.shown {
        let node = graph.node(*id);
        if pattern.is_match(&node.info.name) {
            functions.entry(&node.info.name).or_default().entry(&node.info.file).or_default().push(node);
        }
    }
    if functions.is_empty() {
        return Err(SelectError::NoMatch(pattern.to_string()).into());
    }
    // Each value in its own unit, unless one is asked for: there is no table to choose one for.
    let unit = &report.selection.unit;
    let shape = report.shape();
    writeln!(out, "Total: {}", report.format(report.total, unit))?;
    for (name, files) in &functions {
        if files.keys().all(|file| file.is_empty()) {
            writeln!(out, "No source information for {name}")?;
            continue;
        }
        for (file, nodes) in files.iter().filter(|(file, _)| !file.is_empty()) {
            let (flat, cum) = sum(nodes);
            writeln!(out, "ROUTINE ======================== {name} in {file}")?;
            let (flat, total) = (report.format(flat, unit), report.format(cum, unit));
            writeln!(out, "{flat:>10} {total:>10} (flat, cum) {} of Total", percentage(cum, report.total))?;
            lines(report, &shape, file, nodes, out)?;
        }
    }
    Ok(())
}

fn sum(nodes: &[&Node]) -> (i64, i64) {
    nodes.iter().fold((0, 0), |(flat, cum): (i64, i64), node| {
        (flat.saturating_add(node.flat), cum.saturating_add(node.cum))
    })
}

fn lines(
    report: &PreparedProfile<'_>,
    shape: &Shape,
    file: &str,
    nodes: &[&Node],
    out: &mut dyn Write,
) -> Result<(), ViewError> {
    let unit = &report.selection.unit;
    let value = |value: i64| if value == 0 { ".".to_string() } else { report.format(value, unit) };
    let mut by_line: BTreeMap<i64, Vec<&Node>> = BTreeMap::new();
    for node in nodes {
        by_line.entry(node.info.line).or_default().push(node);
    }
    let start_of = |node: &&Node| match node.info.start_line {
        0 => node.info.line.saturating_sub(MARGIN),
        start => start,
    };
    let first = nodes.iter().map(start_of).min().unwrap_or(1).max(1);
    let last = nodes.iter().map(|node| node.info.line.saturating_add(MARGIN)).max().unwrap_or(0);
    let mut write_line = |number: i64, text: &str| {
        let (flat, cum) = by_line.get(&number).map_or((0, 0), |nodes| sum(nodes));
        writeln!(out, "{:>10} {:>10} {number:>6}:{text}", value(flat), value(cum))
    };
    match source(file, shape, first, last) {
        Ok(text) => {
            for (number, text) in (first..).zip(&text) {
                write_line(number, text)?;
            }
        }
        Err(reason) => {
            for number in by_line.keys() {
                write_line(*number, "")?;
            }
            writeln!(out, " no source: {reason}")?;
        }
    }
    Ok(())
}

/// Lines `first..=last` of a source file, as far as there are.
fn source(file: &str, shape: &Shape, first: i64, last: i64) -> Result<Vec<String>, String> {
    let path = find(file, shape)?;
    let opened = std::fs::File::open(&path).map_err(|error| format!("{}: {error}", visible::path(&path)))?;
    let is_file = opened.metadata().is_ok_and(|about| about.is_file());
    if !is_file {
        return Err(format!("{}: this is no file", visible::path(&path)));
    }
    let skipped = usize::try_from(first - 1).unwrap_or(0);
    let count = usize::try_from(last.saturating_sub(first).saturating_add(1)).unwrap_or(0);
    let lines = BufReader::new(opened.take(LONGEST_SOURCE)).split(b'\n');
    let lines = lines.skip(skipped).take(count).map(|line| {
        let line = line.map_err(|error| format!("{}: {error}", visible::path(&path)))?;
        let text = String::from_utf8_lossy(&line);
        let text = text.strip_suffix('\r').unwrap_or(&text);
        // pprof keeps tabs.
        let words: Vec<_> = text.split('\t').map(visible::line).collect();
        Ok(words.join("\t"))
    });
    lines.collect()
}

/// Where a source file is: an absolute name as it is, any other below the directories to search and all above them.
fn find(file: &str, shape: &Shape) -> Result<PathBuf, String> {
    let here = std::env::current_dir().map(|path| visible::path(&path).to_string()).unwrap_or_default();
    let search = if shape.source_path.is_empty() { here } else { shape.source_path.clone() };
    let path = trimmed(file, &Shape { source_path: search.clone(), ..shape.clone() });
    if path.starts_with('/') {
        return match Path::new(path).exists() {
            true => Ok(PathBuf::from(path)),
            false => Err(format!("{path} is not on this machine; --source_path names where to search")),
        };
    }
    let directories = search.split(':').filter(|directory| !directory.is_empty());
    let found =
        directories.flat_map(|directory| Path::new(directory).ancestors().map(|above| above.join(path)));
    let mut found = found.filter(|path| path.is_file());
    // pprof gives up where a directory of the name's happens to be called as the one to search.
    let absolute = Path::new(file);
    found
        .next()
        .or_else(|| (absolute.is_absolute() && absolute.is_file()).then(|| absolute.to_path_buf()))
        .ok_or_else(|| format!("{path} is not below {search}; --source_path names where to search"))
}
