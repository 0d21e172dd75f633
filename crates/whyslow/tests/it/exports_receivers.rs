//! Exports in the tools that they are for, where these are installed: Python's XML, Prometheus, speedscope. What they read adds up to
//! what we read.

use crate::captures::OWN;
use crate::common::skipped;
use crate::exports::{evil_trace, files_below, run};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;
use whyslow_export::ExportHow;
use whyslow_facts::Facts;
use whyslow_model::Diagnosis;
use whyslow_read::{Input, ReadOptions};

/// What a command printed; `None`, with the reason printed, where it or what it needs is not installed.
pub(crate) fn of_tool(command: &mut Command, needs: &str) -> Option<String> {
    match command.output() {
        Ok(ran) if ran.status.success() => Some(String::from_utf8_lossy(&ran.stdout).into_owned()),
        _ => {
            skipped(needs);
            None
        }
    }
}

/// What a command printed that must succeed.
pub(crate) fn printed(command: &mut Command) -> String {
    let ran = command.output().expect("it runs");
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{command:?}: {said}");
    String::from_utf8_lossy(&ran.stdout).into_owned()
}

/// All captures of the tests, with what was read of each.
pub(crate) fn captures() -> impl Iterator<Item = (PathBuf, Facts)> {
    let mut files = Vec::new();
    files_below(Path::new(OWN), &mut files);
    files_below(&Path::new(OWN).join("../cases/captures"), &mut files);
    files.sort();
    files.into_iter().filter_map(|file| {
        let mut facts = Facts::of_target();
        let input = [Input::File(file.clone())];
        whyslow_read::read(&input, &ReadOptions { threads: 1 }, &(), &mut facts).ok()?;
        facts.finish();
        Some((file, facts))
    })
}

fn metrics_of(facts: &Facts, diagnosis: &Diagnosis) -> String {
    let Some(ExportHow::Diagnosis(write)) = whyslow_export::find("openmetrics").map(|format| &format.how)
    else {
        panic!("openmetrics is made of a diagnosis")
    };
    let mut out = Vec::new();
    write(facts, diagnosis, &mut out).expect("written");
    String::from_utf8(out).expect("UTF-8")
}

/// The sum of the samples of a name. Its labels have no `} `.
fn sum_of(text: &str, name: &str) -> u64 {
    let values = text.lines().filter_map(|line| {
        let rest = line.strip_prefix(name)?;
        let value = match rest.strip_prefix('{') {
            Some(labels) => labels.rsplit_once("} ")?.1,
            None => rest.strip_prefix(' ')?,
        };
        value.split(' ').next()
    });
    values.map(digits).sum()
}

/// A number as it is, one with a point as seconds in nanoseconds.
fn digits(value: &str) -> u64 {
    match value.split_once('.') {
        None => value.parse().expect("a number"),
        Some((whole, part)) => {
            let whole: u64 = whole.parse().expect("seconds");
            whole * 1_000_000_000 + format!("{part:0<9}").parse::<u64>().expect("nanoseconds")
        }
    }
}

#[test]
fn metrics_add_up_to_what_was_read_and_prometheus_reads_them() {
    let folder = TempDir::new().expect("a folder");
    let (mut written, mut dated, mut requests, mut calls) = (0, Vec::new(), 0, 0);
    for (file, facts) in captures() {
        let diagnosis = whyslow_diagnose::diagnose(&facts);
        let text = metrics_of(&facts, &diagnosis);
        let of = file.display();
        let count: u64 = facts.syscalls().iter().map(|(_, stats)| stats.count).sum();
        assert_eq!(sum_of(&text, "whyslow_calls_total"), count, "{of}: calls");
        let (timed, ns) = facts
            .syscalls()
            .iter()
            .fold((0, 0), |sum, (_, stats)| (sum.0 + stats.timed, sum.1 + stats.total_ns));
        assert_eq!(sum_of(&text, "whyslow_call_duration_seconds_count"), timed, "{of}: timed calls");
        assert_eq!(sum_of(&text, "whyslow_call_duration_seconds_sum"), ns, "{of}: time of calls");
        let ns = diagnosis.account.as_ref().map_or(0, |account| account.ns);
        assert_eq!(sum_of(&text, "whyslow_account_seconds"), ns, "{of}: account");
        assert_eq!(sum_of(&text, "whyslow_account_row_seconds"), ns, "{of}: rows");
        let ended: u64 = facts.requests.endpoints().iter().map(|row| row.stats.count).sum();
        assert_eq!(sum_of(&text, "whyslow_requests_total"), ended, "{of}: requests");
        assert_eq!(sum_of(&text, "whyslow_findings"), diagnosis.findings.len() as u64, "{of}: findings");
        (calls, requests) = (calls + count, requests + ended);
        // A time stands behind each value where the date is known.
        let has_date = text.contains("whyslow_rules_not_judged ") && {
            let line = text.lines().find(|line| line.starts_with("whyslow_rules_not_judged ")).expect("it");
            line.split(' ').count() == 3
        };
        let path = folder.path().join(format!("{written}.prom"));
        std::fs::write(&path, text).expect("written");
        if has_date && count > 0 {
            dated.push(path);
        }
        written += 1;
    }
    assert!(calls > 500 && requests > 10 && written > 50, "{calls} calls, {requests} requests, {written}");
    let trace = evil_trace(&folder);
    let evil = folder.path().join(format!("{written}.prom"));
    let evil_to = evil.display().to_string();
    assert!(run(&["export", &trace, "--to", "openmetrics", "-o", &evil_to]).status.success());
    python_parses(&folder, written + 1);
    promtool_takes(&folder, &dated);
}

/// The parser of Prometheus' own client, which is strict.
fn python_parses(folder: &TempDir, wanted: usize) {
    const SCRIPT: &str = "
import glob, sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families
files = samples = 0
for name in glob.glob(sys.argv[1] + '/*.prom'):
    with open(name, encoding='utf-8', newline='') as text:
        try:
            samples += sum(len(family.samples) for family in text_string_to_metric_families(text.read()))
        except Exception as error:
            sys.exit(f'{name}: {error!r}')
    files += 1
print(files, samples)
";
    let mut is_there = Command::new("python3");
    is_there.args(["-c", "import prometheus_client.openmetrics.parser"]);
    if of_tool(&mut is_there, "there is no prometheus_client for python3").is_none() {
        return;
    }
    let printed = printed(Command::new("python3").args(["-c", SCRIPT]).arg(folder.path()));
    let (files, samples) = printed.trim().split_once(' ').expect("two numbers");
    assert_eq!(files.parse::<usize>().expect("files"), wanted);
    assert!(samples.parse::<usize>().expect("samples") > 1_000, "{samples}");
}

/// Prometheus makes blocks of what has a date, and has each series in them.
fn promtool_takes(folder: &TempDir, dated: &[PathBuf]) {
    if of_tool(Command::new("promtool").arg("--version"), "there is no `promtool`").is_none() {
        return;
    }
    assert!(!dated.is_empty(), "a capture with a date");
    for path in dated.iter().take(5) {
        let data = folder.path().join("data");
        let _ = std::fs::remove_dir_all(&data);
        printed(
            Command::new("promtool").args(["tsdb", "create-blocks-from", "openmetrics"]).arg(path).arg(&data),
        );
        // A server makes this one before it is asked.
        std::fs::create_dir_all(data.join("wal")).expect("made");
        let dumped = printed(Command::new("promtool").args(["tsdb", "dump"]).arg(&data));
        let text = std::fs::read_to_string(path).expect("read");
        let samples = text.lines().filter(|line| !line.starts_with('#')).count();
        assert_eq!(
            dumped.lines().filter(|line| line.starts_with('{')).count(),
            samples,
            "{}",
            path.display()
        );
    }
}

#[test]
fn pictures_are_xml_whose_boxes_add_up() {
    const SCRIPT: &str = "
import sys, xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
names = {element.tag.split('}')[1] for element in root.iter()}
assert names <= {'svg', 'title', 'style', 'rect', 'text', 'g'}, names
assert not [key for element in root.iter() for key in element.attrib if key.startswith('on') or 'href' in key]
rows = {}
for group in root.iter('{http://www.w3.org/2000/svg}g'):
    rect = group.find('{http://www.w3.org/2000/svg}rect')
    rows[rect.get('y')] = rows.get(rect.get('y'), 0) + float(rect.get('width'))
print(max(rows.values()), len(rows))
";
    let folder = TempDir::new().expect("a folder");
    let (trace, to) = (evil_trace(&folder), folder.path().join("x.svg"));
    let to = to.display().to_string();
    if of_tool(Command::new("python3").arg("--version"), "there is no `python3`").is_none() {
        return;
    }
    for (of, wanted) in [("time", "1180.0 5"), ("calls", "1180.0 4")] {
        assert!(run(&["export", &trace, "--to", "svg", "--of", of, "-o", &to]).status.success());
        assert_eq!(printed(Command::new("python3").args(["-c", SCRIPT, &to])).trim(), wanted, "{of}");
    }
}

#[test]
fn speedscope_imports_our_profiles_with_each_weight() {
    let needs = "there is no npm package speedscope (npm install -g speedscope)";
    let Some(root) = of_tool(Command::new("npm").args(["root", "-g"]), "there is no `npm`") else { return };
    let release = Path::new(root.trim()).join("speedscope/dist/release");
    if !release.is_dir() {
        return skipped(needs);
    }
    let folder = TempDir::new().expect("a folder");
    let (trace, to) = (evil_trace(&folder), folder.path().join("x.speedscope.json"));
    let to_text = to.display().to_string();
    let script = Path::new(OWN).join("../crates/whyslow/tests/it/speedscope.js");
    for of in ["calls", "time"] {
        assert!(run(&["export", &trace, "--to", "speedscope", "--of", of, "-o", &to_text]).status.success());
        let read = printed(Command::new("node").arg(&script).arg(&release).arg(&to));
        let read: serde_json::Value = serde_json::from_str(&read).expect("a line of JSON");
        assert_eq!(read["unit"], "nanoseconds", "{of}: {read}");
        let own: BTreeMap<String, u64> = serde_json::from_value(read["own"].clone()).expect("weights");
        assert_eq!(own.values().sum::<u64>(), read["total"].as_u64().expect("a total"), "{of}");
        // 20 of each: 0.5 s, 0.4 s, 10 us.
        if of == "calls" {
            let wanted = [("openat", 10_000_000_000), ("read", 8_000_000_000), ("close", 200_000)];
            for (name, ns) in wanted {
                assert_eq!(own.get(name), Some(&ns), "{name}: {own:?}");
            }
        }
    }
}
