//! Every profile among our captures and those that people published reads, and has the sums that `go tool pprof` or plain counting gives.

use crate::common::skipped;
use std::path::{Path, PathBuf};
use whyslow_model::Profile;
use whyslow_profile::formats::{Limits, Loaded, ProfileData, read_file};

/// The captures of the repository.
fn own() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../captures"))
}

/// The captures that people published; `None` (and said so) where there are none beside this checkout.
fn published() -> Option<PathBuf> {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/captures"));
    if path.is_dir() {
        return Some(path);
    }
    skipped("no captures beside the project");
    None
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file())
        .collect();
    files.sort();
    files
}

fn load(path: &Path) -> Loaded {
    read_file(path, Limits::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn stacks(path: &Path) -> Profile {
    match load(path).data {
        ProfileData::Stacks(profile) => profile,
        ProfileData::Table(_) => panic!("{}: a table", path.display()),
    }
}

#[test]
fn every_folded_line_is_a_sample() {
    assert_folded(&own());
}

#[test]
fn every_published_folded_line_is_a_sample() {
    if let Some(captures) = published() {
        assert_folded(&captures);
    }
}

fn assert_folded(captures: &Path) {
    for path in files(&captures.join("folded")) {
        let loaded = load(&path);
        let text = std::fs::read_to_string(&path).unwrap();
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        let sum: f64 =
            lines.clone().map(|line| line.rsplit(' ').next().unwrap().parse::<f64>().unwrap()).sum();
        let profile = stacks(&path);
        assert_eq!((loaded.format, loaded.notes.damaged), ("folded stacks", 0), "{}", path.display());
        assert_eq!(profile.sample_count(), lines.count(), "{}", path.display());
        let last = profile.sample_types.len() - 1;
        assert_eq!(profile.total(last), sum.round() as i64, "{}", path.display());
    }
}

#[test]
fn every_head_of_perf_script_is_a_sample() {
    assert_perf_script(&own());
}

#[test]
fn every_published_head_of_perf_script_is_a_sample() {
    if let Some(captures) = published() {
        assert_perf_script(&captures);
    }
}

fn assert_perf_script(captures: &Path) {
    for path in files(&captures.join("perf-script")) {
        let loaded = load(&path);
        assert_eq!((loaded.format, loaded.notes.damaged), ("perf script", 0), "{:?}", loaded.notes);
        let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
        let heads =
            text.lines().filter(|line| !line.is_empty() && !line.starts_with(['\t', ' ', '#'])).count();
        assert_eq!(stacks(&path).sample_count(), heads, "{}", path.display());
    }
}

#[test]
fn every_printed_table_reads() {
    assert_printed_tables(&own());
}

#[test]
fn every_published_printed_table_reads() {
    if let Some(captures) = published() {
        assert_printed_tables(&captures);
    }
}

fn assert_printed_tables(captures: &Path) {
    let tables = files(&captures.join("pprof"))
        .into_iter()
        .filter(|path| path.to_string_lossy().ends_with(".gotop.txt"));
    let seeds =
        files(&captures.join("seeds/004")).into_iter().filter(|path| path.to_string_lossy().contains(".top"));
    for path in tables.chain(seeds) {
        let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
        // One function's name has line ends in it: nobody could tell its rows.
        if path.to_string_lossy().contains("invalid_utf8") {
            continue;
        }
        let Some((_, rows)) = text.split_once("cum%\n") else { continue };
        let rows = rows.lines().filter(|line| !line.trim().is_empty()).count();
        let loaded = load(&path);
        let ProfileData::Table(table) = loaded.data else { panic!("{}", path.display()) };
        assert_eq!((table.rows.len(), loaded.notes.damaged), (rows, 0), "{}", path.display());
        assert!(table.total.is_some(), "{}", path.display());
    }
}

/// The sums of each value, and how many stacks, as `go tool pprof -raw` prints them; `None` where it cannot be run.
fn raw_sums(path: &Path) -> Option<Vec<i64>> {
    let output = std::process::Command::new("go").args(["tool", "pprof", "-raw"]).arg(path).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let (_, samples) = text.split_once("\nSamples:\n")?;
    let (samples, _) = samples.split_once("\nLocations\n")?;
    let mut sums = Vec::new();
    // The first line names the types; labels stand on lines of their own, without a `: ` behind numbers.
    for line in samples.lines().skip(1) {
        let Some((values, _)) = line.split_once(": ").or(line.strip_suffix(':').map(|line| (line, "")))
        else {
            continue;
        };
        let Ok(values) = values.split_whitespace().map(str::parse::<i64>).collect::<Result<Vec<_>, _>>()
        else {
            continue;
        };
        sums.resize(values.len().max(sums.len()), 0);
        values.iter().enumerate().for_each(|(index, value)| sums[index] += value);
    }
    Some(sums)
}

#[test]
fn every_pprof_file_has_the_sums_of_go_tool_pprof() {
    assert_sums_of_go_tool_pprof(&own());
}

#[test]
fn every_published_pprof_file_has_the_sums_of_go_tool_pprof() {
    if let Some(captures) = published() {
        assert_sums_of_go_tool_pprof(&captures);
    }
}

fn assert_sums_of_go_tool_pprof(captures: &Path) {
    if std::process::Command::new("go").arg("version").output().is_err() {
        return skipped("there is no `go`, whose pprof is the measure");
    }
    let (mut compared, mut without) = (0, 0);
    for path in files(&captures.join("pprof"))
        .into_iter()
        .filter(|path| path.extension().is_none_or(|end| end != "txt"))
    {
        let profile = stacks(&path);
        let Some(sums) = raw_sums(&path).filter(|sums| !sums.is_empty()) else {
            println!("go tool pprof gives no sums for {}", path.display());
            without += 1;
            continue;
        };
        let ours: Vec<i64> = (0..profile.sample_types.len()).map(|index| profile.total(index)).collect();
        assert_eq!(ours, sums, "{}", path.display());
        compared += 1;
    }
    println!("{compared} compared");
    assert!(compared >= 10 && without <= 4, "{compared} compared, {without} without sums");
}

#[test]
fn every_dump_reads() {
    assert_dumps(&own());
}

#[test]
fn every_published_dump_reads() {
    if let Some(captures) = published() {
        assert_dumps(&captures);
    }
}

fn assert_dumps(captures: &Path) {
    for path in files(&captures.join("goroutine")) {
        let loaded = load(&path);
        let text = std::fs::read_to_string(&path).unwrap();
        let profile = stacks(&path);
        assert_eq!(loaded.notes.damaged, 0, "{}", path.display());
        match text.split_once("goroutine profile: total ") {
            Some((_, total)) => {
                let total = total.lines().next().unwrap().parse::<i64>().unwrap();
                // One capture is an excerpt.
                assert!(
                    profile.total(0) == total || path.to_string_lossy().contains("natsjsmdemo"),
                    "{}",
                    path.display()
                );
            }
            None => {
                let heads =
                    text.lines().filter(|line| line.contains("goroutine ") && line.ends_with("]:")).count();
                assert_eq!(profile.sample_count(), heads, "{}", path.display());
            }
        }
    }
    for path in files(&captures.join("jstack")) {
        let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
        let heads = text
            .lines()
            .filter(|line| line.starts_with('"') && line.contains(" prio=") || line.contains(" nid="))
            .count();
        let profile = stacks(&path);
        assert_eq!(
            (load(&path).format, profile.sample_count()),
            ("Java thread dump", heads),
            "{}",
            path.display()
        );
    }
}
