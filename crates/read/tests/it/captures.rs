//! Captures, ours and those that people published: all of them are recognised, and all their lines used.

use crate::common::{own, published, see};
use std::path::{Path, PathBuf};
use whyslow_model::{CaptureKind, Event, NoteKind, SourceInfo};
use whyslow_read::{Input, ReadOptions, read};

/// Files with lines that were damaged by the person who pasted them, and how many.
const DAMAGED: &[(&str, u64)] = &[
    // Two calls cut by hand behind their last argument, between prose.
    ("remenska__ProcessPool__AnalysisWorkingSystem.txt", 2),
];

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("the folder can be read");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    files
}

fn source(path: &Path, threads: usize) -> (Vec<SourceInfo>, Vec<String>, u64) {
    let (mut sources, mut notes, mut calls) = (Vec::new(), Vec::new(), 0);
    let mut sink = |event: Event<'_>| match event {
        Event::Source(info) => sources.push(info),
        Event::Note(note) if note.kind != NoteKind::Tracer => notes.push(note.text),
        Event::Call(_) => calls += 1,
        _ => {}
    };
    let _ = read(&[Input::File(path.to_path_buf())], &ReadOptions { threads }, &(), &mut sink);
    (sources, notes, calls)
}

#[test]
fn every_trace_parses() {
    assert_traces_parse(&own());
}

#[test]
fn every_published_trace_parses() {
    if let Some(captures) = published() {
        assert_traces_parse(&captures);
    }
}

fn assert_traces_parse(captures: &Path) {
    for (folder, kind) in [("strace", CaptureKind::Strace), ("ltrace", CaptureKind::Ltrace)] {
        for path in files(&captures.join(folder)) {
            let (sources, notes, calls) = source(&path, 1);
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let [info] = &sources[..] else { panic!("{name}: {notes:?}") };
            assert_eq!(info.kind, kind, "{name}");
            let allowed =
                DAMAGED.iter().find(|(damaged, _)| *damaged == name).map_or(info.lines / 1000, |(_, n)| *n);
            assert!(info.rejects <= allowed, "{name}: {info:?} {notes:#?}");
            assert!(calls > 0, "{name}");
            let blank = blank_lines(&path);
            assert_eq!(info.lines, info.events + info.rejects + info.foreign + blank, "{name}: {info:?}");
        }
    }
}

/// Lines of white space.
fn blank_lines(path: &Path) -> u64 {
    let data = std::fs::read(path).expect("readable");
    let lines = data.split_inclusive(|byte| *byte == b'\n');
    lines.filter(|line| line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'))).count() as u64
}

#[test]
fn the_seed_traces_parse_whole() {
    for (file, lines, calls) in [
        ("seeds/000/strace-T.stat.txt", 6, 6),
        ("seeds/001/futex-chain.st", 13, 7),
        ("seeds/001/redis-epipe.st", 11, 8),
    ] {
        let (sources, notes, seen) = source(&own().join(file), 1);
        let [info] = &sources[..] else { panic!("{file}: {notes:?}") };
        assert_eq!(
            (info.kind, info.lines, info.events, seen),
            (CaptureKind::Strace, lines, lines, calls),
            "{file}"
        );
        assert!(notes.is_empty(), "{file}: {notes:?}");
    }
}

#[test]
fn every_access_log_parses() {
    assert_access_logs_parse(&own());
}

#[test]
fn every_published_access_log_parses() {
    if let Some(captures) = published() {
        assert_access_logs_parse(&captures);
    }
}

fn assert_access_logs_parse(captures: &Path) {
    for path in files(&captures.join("nginx")) {
        let (sources, notes, _) = source(&path, 1);
        let [info] = &sources[..] else { panic!("{}: {notes:?}", path.display()) };
        assert_eq!((info.kind, info.rejects), (CaptureKind::AccessLog, 0), "{}: {notes:?}", path.display());
        // One of them is a page of a manual around a log.
        let expected = match info.foreign {
            0 => info.lines,
            _ => 14,
        };
        assert_eq!(info.events, expected, "{info:?}");
    }
}

#[test]
fn other_captures_are_not_taken_for_traces() {
    assert_no_traces(&own());
}

#[test]
fn other_published_captures_are_not_taken_for_traces() {
    if let Some(captures) = published() {
        assert_no_traces(&captures);
    }
}

fn assert_no_traces(captures: &Path) {
    for entry in std::fs::read_dir(captures).expect("the folder can be read") {
        let entry = entry.expect("an entry");
        let folder = entry.file_name().to_string_lossy().into_owned();
        if !entry.path().is_dir() || matches!(folder.as_str(), "strace" | "ltrace" | "nginx" | "seeds") {
            continue;
        }
        for path in files(&entry.path()) {
            for info in source(&path, 1).0 {
                let trace =
                    matches!(info.kind, CaptureKind::Strace | CaptureKind::Ltrace | CaptureKind::AccessLog);
                assert!(!trace, "{}: {info:?}", path.display());
            }
        }
    }
}

#[test]
fn two_threads_see_the_same_events() {
    for path in files(&own().join("strace")) {
        assert_same_events(path);
    }
}

#[test]
fn two_threads_see_the_same_events_of_long_published_traces() {
    let Some(captures) = published() else { return };
    for name in ["zicada__bug-ASTERISK-27262__strace.log", "surajm2311__apimnewyear__strace.txt"] {
        assert_same_events(captures.join("strace").join(name));
    }
}

fn assert_same_events(path: PathBuf) {
    let name = path.display().to_string();
    let input = [Input::File(path)];
    let alone = see(&input, 1);
    assert_eq!(alone, see(&input, 2), "{name}");
    assert_eq!(alone, see(&input, 3), "{name}");
}
