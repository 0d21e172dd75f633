//! # temp-file-churn
//!
//! ## What it is
//! Many files are created, written, read back and removed again within one run or one request: they were only a
//! place to put bytes for a moment.
//!
//! ## Why it is slow
//! Each file costs its creation, its removal, and its bytes twice; more is written than the disk can take, and the
//! writers are held back until it has. One API wrote 1,000 files of 2 to 6 MB for each request, read them all back
//! and removed them: 335 MB/s against a disk that took 33, 2 min 43 s a request; kept in memory it took 8.8 s.
//!
//! ## Example
//! ```text
//! openat(AT_FDCWD, "/tmp/9046db9e-fe25-11e8-b13f-0242ac110002/0.txt", O_WRONLY|O_CREAT|O_TRUNC, 0666) = 5
//! write(5, "..."..., 4103168) = 4103168
//! unlink("/tmp/9046db9e-fe25-11e8-b13f-0242ac110002/0.txt") = 0
//! ```
//!
//! ## What to do instead
//! Keep the bytes in memory (a buffer, memfd_create), or pass them on as a stream (a pipe). Where a path is needed
//! and they fit, use a tmpfs (/dev/shm). Where they do not fit, one file instead of many.
//!
//! ## When it is wrong
//! An external sort, a compiler without `-pipe` and a database that spills a join write temporary files on
//! purpose; `sort`, gcc and PostgreSQL are known by their names and left out. Empty files are locks. Files of which the last few are kept, and that nobody reads meanwhile, are an archive.

use super::temp_files::{IN_MEMORY, ON_TMPFS, by_directory, is_known_spill};
use super::{counted_temp_files, told_temp_files};
use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::{guards, words};
use std::collections::BTreeMap;
use whyslow_facts::Facts;
use whyslow_facts::world::files::TempFiles;
use whyslow_model::{Measurement, Nanos, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "temp-file-churn",
    group: "files",
    summary: "files are created, written, read back and removed again",
    source: include_str!("temp_file_churn.rs"),
    needs: &[
        Need::Either(&[Need::AnyOf(&["unlink", "unlinkat"]), told_temp_files::FIGURES, Need::Table("files")]),
        Need::Either(&[
            Need::AnyOf(&["open", "openat", "openat2", "creat"]),
            told_temp_files::FIGURES,
            Need::Table("files"),
        ]),
    ],
    check,
};

/// Files from which on they are a habit: a build or an installer leaves some dozens.
const MIN_FILES: u64 = 50;
/// Bytes from which on fewer files count too.
const MANY_BYTES: u64 = 1_000_000_000;
/// Files of that many bytes.
const FEW_FILES: u64 = 10;
/// Calls of each file at the least: its creation and its removal.
const CALLS_PER_FILE: u64 = 2;
/// Files that were made while one lived, from which on it was kept for a while: one that only holds bytes for a moment is gone before.
const KEPT: u64 = 3;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    if facts.world.calls == 0 {
        told_temp_files::check(facts, out);
        return counted_temp_files::check(facts, out);
    }
    let mut groups: BTreeMap<String, TempFiles> = BTreeMap::new();
    let temp = facts.world.files.temp.values();
    for files in temp.filter(|files| files.written > 0 && !is_known_spill(&files.example)) {
        let name = if is_habit(files) { files.pattern.clone() } else { by_directory(&files.pattern) };
        match groups.get_mut(&name) {
            Some(group) => join(group, files),
            None => {
                groups.insert(name.clone(), TempFiles { pattern: name, ..files.clone() });
            }
        }
    }
    if groups.is_empty() && facts.recording.only_counts() {
        return counted_temp_files::check(facts, out);
    }
    // What is too little by itself is one habit with what is made beside it.
    let mut churned: Vec<TempFiles> = groups.into_values().filter(is_habit).collect();
    churned.sort_by_key(|group| std::cmp::Reverse((group.io_ns, group.written)));
    churned.iter().for_each(|group| report(facts, out, group));
}

#[gated]
fn is_habit(group: &TempFiles) -> bool {
    (group.files >= MIN_FILES || (group.files >= FEW_FILES && group.written >= MANY_BYTES))
        && !are_kept(group)
}

/// The last few of many files are kept, and nobody reads them while they are: each is removed when so many others were made after it.
#[gated]
fn are_kept(group: &TempFiles) -> bool {
    let spacing = group.last.since(group.first).or_zero() / group.files.max(1);
    let lived = group.lived_ns / group.files.max(1);
    spacing > 0 && group.read_back_files.saturating_mul(2) < group.files && lived >= KEPT * spacing
}

#[gated]
fn join(group: &mut TempFiles, other: &TempFiles) {
    group.files += other.files;
    group.read_back_files += other.read_back_files;
    group.written += other.written;
    group.read_back += other.read_back;
    group.io_ns = group.io_ns.saturating_add(other.io_ns);
    group.lived_ns = group.lived_ns.saturating_add(other.lived_ns);
    if other.first < group.first {
        group.first = other.first;
    }
    if other.last > group.last {
        group.last = other.last;
    }
    group.exemplars.merge(&other.exemplars);
}

#[gated]
fn report(facts: &Facts, out: &mut Findings<'_>, group: &TempFiles) {
    let time = if facts.capture.has_durations() { Nanos::new(group.io_ns) } else { Nanos::UNKNOWN };
    let share = guards::share_of_ns(facts, None, time, CALLS_PER_FILE * group.files);
    let read_back = group.read_back_files > 0;
    // Many files, or fewer with many bytes.
    let (files, written) =
        (Measurement::count("files", group.files), Measurement::bytes("bytes_written", group.written));
    let (files, written) = match group.files >= MIN_FILES {
        true => (files.at_least(MIN_FILES as f64), written),
        false => (files.at_least(FEW_FILES as f64), written.at_least(MANY_BYTES as f64)),
    };
    let title = format!(
        "{}: {files} files written{} and removed ({written} for nothing)",
        group.pattern,
        if read_back { ", read back" } else { "" },
    );
    let requests = Some(facts.work.requests).filter(|requests| *requests > 0);
    let per_request = requests
        .map(|requests| Measurement::number("files_per_request", group.files as f64 / requests as f64));
    let that_is = per_request.as_ref().map_or(String::new(), |files| {
        format!(" That is {files} files for each of {}.", words::plural(facts.work.requests, "request"))
    });
    let each = Measurement::bytes("bytes_per_file", group.written / group.files.max(1));
    let back = Measurement::bytes("bytes_read_back", group.read_back);
    let took = Measurement::time("within", group.last.since(group.first));
    let pace = took.value.map_or(String::new(), |_| format!(" within {took}"));
    out.report(share, title)
        .subject(Subject { path: Some(group.pattern.clone()), ..Subjects::thread(facts, group.tid) })
        .cause(format!(
            "The files ({each} each on average) were made{pace} only to hold bytes for a moment: {back} were read back, then all were removed. \
             The disk still has to take what it cannot drop in time, and each file costs its creation and its removal.{that_is}"
        ))
        .measured(files)
        .measured(written)
        .measured(each)
        .measured(took)
        .measured(back)
        .measured_all(requests.map(|requests| Measurement::count("requests", requests)))
        .measured_all(per_request)
        .fix(IN_MEMORY)
        .fix(ON_TMPFS)
        .fix("where they do not fit: one file for all, opened once with O_TMPFILE")
        .verify("bcc: filelife -p PID   (lists files that live shortly, with their age);  pidstat -d -p PID 1")
        .saving(time)
        .evidence_all(group.exemplars.iter())
        .file();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_without_a_pattern_are_joined_by_directory() {
        assert_eq!(by_directory("/tmp/work/aXbYcZ"), "/tmp/work/*");
        assert_eq!(by_directory("aXbYcZ"), "aXbYcZ");
    }
}
