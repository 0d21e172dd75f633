//! Temporary files by what the kernel added up: who wrote how much to which files and read it back. Which ones were removed is
//! not among it, only how many, so the finding is a hint, as with tools that show names.

use super::temp_files::{Churn, PLACES, by_directory, is_known_spill, report};
use crate::engine::Findings;
use crate::gate::gated;
use crate::words;
use std::collections::BTreeMap;
use whyslow_facts::who::Who;
use whyslow_facts::{Facts, FileFacts, ProcessId};
use whyslow_model::{Evidence, Measurement, SaturatingSum, Syscall, Timestamp};

/// Files that were written and read back: fewer are no habit, as for those of which each call was seen.
const MIN_FILES: u64 = 50;
/// Of what was written, what was read back at the least: a log or a cache that grows is read in part.
const READ_BACK: f64 = 0.5;

/// Outside of the places for temporary files the program has removed as many as this part of them.
const REMOVED: f64 = 0.8;

/// Files of one folder that one process wrote and read.
struct Group {
    files: u64,
    written: u64,
    read: u64,
    opens: u64,
    first: Timestamp,
    /// The thread that wrote most of any file.
    most: (u64, Who),
}

#[gated]
pub(super) fn check(facts: &Facts, out: &mut Findings<'_>) {
    let mut groups: BTreeMap<(String, ProcessId), Group> = BTreeMap::new();
    let files = &facts.world.files;
    for file in files.iter().map(|(_, file)| file).chain(files.merged.values()) {
        if !is_known_spill(&file.path) {
            take(facts, &mut groups, file);
        }
    }
    let is_habit = |(pattern, process): &(String, ProcessId), group: &Group| {
        let is_temporary = PLACES.iter().any(|place| pattern.starts_with(place))
            || removed(facts, *process) as f64 >= REMOVED * group.files as f64;
        is_temporary && group.files >= MIN_FILES && group.read as f64 >= READ_BACK * group.written as f64
    };
    let mut found: Vec<_> = groups.into_iter().filter(|(key, group)| is_habit(key, group)).collect();
    found.sort_by_key(|(_, group)| std::cmp::Reverse(group.written));
    for ((pattern, process), group) in found {
        tell(facts, out, pattern, process, group);
    }
}

/// Files that a process removed.
fn removed(facts: &Facts, process: ProcessId) -> u64 {
    let own = facts.world.threads.iter().map(|(_, thread)| thread).filter(|thread| thread.process == process);
    let calls = own.flat_map(|thread| thread.all_calls());
    let calls = calls.filter(|(call, _)| matches!(*call, Syscall::UNLINK | Syscall::UNLINKAT));
    calls.map(|(_, stats)| stats.count.saturating_sub(stats.errors)).saturating_sum()
}

#[gated]
fn take(facts: &Facts, groups: &mut BTreeMap<(String, ProcessId), Group>, file: &FileFacts) {
    let pattern = file.pattern();
    if pattern == *file.path {
        return;
    }
    let pattern = by_directory(&pattern);
    let mut of: BTreeMap<ProcessId, Group> = BTreeMap::new();
    for (user, used) in file.counted.iter() {
        let group = of.entry(user.process).or_insert_with(|| Group {
            files: file.merged.max(1),
            written: 0,
            read: 0,
            opens: 0,
            first: file.first,
            most: (0, Who::default()),
        });
        group.written = group.written.saturating_add(used.writes.bytes);
        group.read = group.read.saturating_add(used.reads.bytes);
        group.opens = group.opens.saturating_add(used.opens.calls);
        if used.writes.bytes > group.most.0 {
            group.most = (used.writes.bytes, Who::of(facts, user));
        }
    }
    for (process, one) in of.into_iter().filter(|(_, one)| one.written > 0 && one.read > 0) {
        match groups.get_mut(&(pattern.clone(), process)) {
            Some(group) => {
                group.files += one.files;
                group.written = group.written.saturating_add(one.written);
                group.read = group.read.saturating_add(one.read);
                group.opens = group.opens.saturating_add(one.opens);
                if one.most.0 > group.most.0 {
                    group.most = one.most;
                }
            }
            None => drop(groups.insert((pattern.clone(), process), one)),
        }
    }
}

fn tell(facts: &Facts, out: &mut Findings<'_>, pattern: String, process: ProcessId, group: Group) {
    let known = facts.world.threads.known_process(process);
    let (_, who) = group.most;
    let text = format!(
        "{pattern}: {}: {} opens, {} written, {} read back, {}",
        who.words(),
        words::count(group.opens),
        words::bytes(group.written),
        words::bytes(group.read),
        words::plural(group.files, "file")
    );
    let churn = Churn {
        pid: known.and_then(|process| process.pid),
        comm: known.and_then(|process| process.name().map(str::to_string)),
        who: who.short().to_string(),
        written: (
            Measurement::bytes("bytes_written", group.written),
            Measurement::count("files", group.files).at_least(MIN_FILES as f64),
        ),
        read: (
            Measurement::bytes("bytes_read_back", group.read).at_least(READ_BACK * group.written as f64),
            Measurement::count("files", group.files).at_least(MIN_FILES as f64),
        ),
        figures: Vec::new(),
        shown: "",
        how: "The kernel added up what was written and read by file and thread.".to_string(),
        evidence: vec![Evidence { source: facts.recording_at(group.first), text }],
        pattern,
    };
    report(out, churn);
}
