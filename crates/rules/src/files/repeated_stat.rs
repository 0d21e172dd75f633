//! # repeated-stat
//!
//! ## What it is
//! The same path is asked for (stat, lstat, access, readlink) again and again, and the answer never changes.
//!
//! ## Why it is slow
//! One stat of a cached path costs a microsecond or two, so it is the number that costs: a log agent that walked
//! one directory of links over and over made 124,724 lstat calls a second, a third of one CPU, to learn nothing
//! new. On a network file system each of them may be a round trip.
//!
//! ## Example
//! ```text
//! lstat("/var/log/app/current", {st_mode=S_IFLNK|0777, st_size=18, ...}) = 0
//! lstat("/var/log/app/current", {st_mode=S_IFLNK|0777, st_size=18, ...}) = 0
//! ```
//!
//! ## What to do instead
//! Ask once and keep the answer; let inotify (fanotify for whole mounts) tell of changes; or ask once a second
//! and not once a record. PHP: `opcache.validate_timestamps=0` or a `revalidate_freq`; nginx: `open_file_cache`.
//!
//! ## When it is wrong
//! Where all calls were only counted, the paths are not known: a thread that does little but ask, and lists no directory, most likely asks
//! for the same ones.
//! A poller that looks once a second is cheap and stays below the threshold. A walk over many files (`find`,
//! `git status`, `rsync`) asks once for each: no path repeats. A table of counts shows no paths, so from a table
//! this is a likely reading, not a proven one. strace shows of an answer only what it prints (mode and size), so a
//! change of the time alone does not show without `-v`.

use super::summed_stats;
use super::told_stats::{self, MIN_IN_EXCERPT, STORM_PER_S};
use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::guards;
use crate::often::{CALLS, Often, REPEATS};
use std::collections::BTreeMap;
use whyslow_facts::{Facts, FileFacts, names};
use whyslow_model::{CallStats, FdKind, Measurement, Severity, Subject, Syscall};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "repeated-stat",
    group: "files",
    summary: "the same path is asked for again and again, and the answer stays the same",
    source: include_str!("repeated_stat.rs"),
    needs: &[Need::Either(&[Need::Counts, told_stats::FIGURES])],
    check,
};

/// Same answers per unit of work from which on it is a storm at a lower rate too.
const STORM_PER_WORK: f64 = 50.0;
/// Below this rate a poller costs nothing, whatever little work it does meanwhile.
const POLLER_PER_S: f64 = 10.0;
/// Without a clock: the part of all calls from which on it is a storm.
const STORM_CALL_SHARE: f64 = 0.3;
/// Same answers for one path below which it is not counted to its directory's.
const MIN_EACH: u64 = 3;
/// More of one directory are told as one storm.
const MOST: usize = 3;
/// In a table, the part of all calls that ask about paths from which on most of them must repeat: `ls -l` and
/// `rsync`, which ask once for each file, make other calls for each too.
const TABLE_SHARE: f64 = 0.8;
/// In a table, calls per write from which on they are too many for one each: `find` prints more than 50 paths of
/// usual length with each write of 4 KiB.
const TABLE_PER_WRITE: f64 = 100.0;
/// In a table, fewer writes than this are a report at the end and no unit of work.
const TABLE_WRITES: u64 = 20;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    // Where some calls were seen one by one, their paths tell more than sums.
    if facts.recording.only_counts() && summed_stats::check(facts, out) {
        return;
    }
    if facts.world.calls == 0 {
        check_table(facts, out);
        return told_stats::check(facts, out);
    }
    let files =
        facts.world.files.iter().map(|(_, file)| file).filter(|file| !names::is_zone_file(&file.path));
    let merged = facts.world.files.merged.values();
    let (mut storms, rest): (Vec<&FileFacts>, Vec<&FileFacts>) = files
        .chain(merged)
        .filter(|file| file.stats_same >= MIN_EACH)
        .partition(|file| is_storm(facts, file.stats_same));
    // Many of one directory are one storm: whoever asks, asks about the directory.
    let mut rest = rest;
    let mut siblings: BTreeMap<&str, usize> = BTreeMap::new();
    storms.iter().for_each(|file| *siblings.entry(parent(&file.path)).or_default() += 1);
    storms.retain(|file| {
        let alone = siblings.get(parent(&file.path)).is_none_or(|siblings| *siblings <= MOST);
        if !alone {
            rest.push(file);
        }
        alone
    });
    storms.sort_by_key(|file| std::cmp::Reverse((file.stats_same, file.path_calls.total_ns)));
    for file in &storms {
        report(facts, out, &file.path, &[*file]);
    }
    let mut directories: BTreeMap<&str, Vec<&FileFacts>> = BTreeMap::new();
    // Monitors look at all of /proc again and again: that is their work.
    for file in rest.into_iter().filter(|file| FdKind::of_path(file.path.as_bytes()) != FdKind::Proc) {
        directories.entry(parent(&file.path)).or_default().push(file);
    }
    let same = |files: &[&FileFacts]| files.iter().map(|file| file.stats_same).sum::<u64>();
    let worst = directories
        .iter()
        .filter(|(_, files)| is_storm(facts, same(files)))
        .max_by_key(|(_, files)| same(files));
    if let Some((directory, files)) = worst {
        report(facts, out, &format!("{directory}/*"), files);
    }
}

/// The directory of a path.
fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(parent, _)| parent)
}

#[gated]
fn is_storm(facts: &Facts, same: u64) -> bool {
    let Some(rate) = facts.pace.untraced(facts.window.per_second(same)) else {
        let share = guards::share_of_calls(facts, same).value;
        return same >= MIN_IN_EXCERPT && share.is_some_and(|share| share >= STORM_CALL_SHARE);
    };
    let work = facts.work.requests.max(facts.work.writes);
    let per_work = work > 0 && same as f64 / work as f64 >= STORM_PER_WORK;
    same >= guards::few_calls(facts) && (rate >= STORM_PER_S || (rate >= POLLER_PER_S && per_work))
}

#[gated]
fn report(facts: &Facts, out: &mut Findings<'_>, path: &str, files: &[&FileFacts]) {
    let Some(first) = files.first() else { return };
    let mut calls = CallStats::default();
    files.iter().for_each(|file| calls.merge(&file.path_calls));
    let same: u64 = files.iter().map(|file| file.stats_same).sum();
    let missing: u64 = files.iter().map(|file| file.stats_missing).sum();
    let alone = files.iter().all(|file| !file.shared && file.tid == first.tid);
    let share = guards::share_of_storm(facts, Some(first.tid).filter(|_| alone), calls.total(), calls.count);
    let rate = facts.window.per_second(same);
    let work = if facts.work.requests >= facts.work.writes { "request" } else { "write" };
    let often = Often::of(&REPEATS, same, rate, &facts.work).per_work_from(work, STORM_PER_WORK);
    // Beside work that is done, less often is enough.
    let per_second = match facts.pace.untraced(rate).is_some_and(|rate| rate >= STORM_PER_S) {
        true => STORM_PER_S,
        false => POLLER_PER_S,
    };
    let often = often.per_second_from(facts, per_second);
    let least = if rate.is_some() { guards::few_calls(facts) } else { MIN_IN_EXCERPT };
    let repeats = Measurement::count("repeats", same).at_least(least as f64);
    // Without a clock it is what decides.
    let part = guards::share_of_calls(facts, same).value.filter(|_| rate.is_none());
    let part = part.map(|part| Measurement::share("share_of_calls", part).at_least(STORM_CALL_SHARE));
    let paths = (files.len() > 1).then(|| Measurement::count("paths", files.len() as u64));
    let which = paths.as_ref().map_or(path.to_string(), |paths| format!("{path}: {paths} paths"));
    let mean = Measurement::time("time_per_call", calls.mean());
    let answer =
        if missing * 2 > same { "that there is no such file" } else { "the same as the time before" };
    let mut finding = out
        .report(share, format!("{which} asked for {repeats} times with the same answer{}", often.in_brackets()))
        .subject(Subject { path: Some(path.to_string()), ..Subjects::thread(facts, first.tid) })
        .cause(format!(
            "The program asks the kernel about the path each time instead of keeping the answer, which was {answer}; \
             one call took {mean} on average. It is the number of calls that costs, not the single call.",
        ))
        .measured_all(paths)
        .measured(repeats)
        .measured_all(often.figures())
        .measured_all(part)
        .measured(mean)
        .fix("code: ask once and keep the answer; watch for changes with inotify (inotify_add_watch on the directory), or check once a second instead of once an item")
        .fix("runtimes: PHP opcache.validate_timestamps=0 or opcache.revalidate_freq=60; nginx open_file_cache max=1000 inactive=60s; Java: cache File.exists() results")
        .fix(format!("find the caller: strace -k -e trace=%stat -P '{path}' -p PID   (prints the stack of each call)"))
        .verify(format!("perf stat -e 'syscalls:sys_enter_*stat*' -p {} sleep 4", pid_text(facts, first.tid)))
        .saving(calls.total());
    if rate.is_none() && same < guards::few_calls(facts) {
        // An excerpt tells what happens, not how long it goes on.
        finding = finding.at_most(Severity::Warning);
    }
    finding.evidence_all(first.exemplars.iter()).file();
}

fn pid_text(facts: &Facts, tid: u32) -> String {
    Subjects::thread(facts, tid).pid.map_or("PID".to_string(), |pid| pid.to_string())
}

#[gated]
fn check_table(facts: &Facts, out: &mut Findings<'_>) {
    let asks =
        |name: &str| Syscall::lookup(name.as_bytes()).is_some_and(whyslow_facts::world::is_stat_family);
    let rows = facts.tables.iter().filter(|table| !table.library).flat_map(|table| &table.rows);
    let Some(row) = rows.filter(|row| asks(&row.name)).max_by_key(|row| row.calls.unwrap_or(0)) else {
        return;
    };
    let calls = row.calls.unwrap_or(0);
    let share = guards::share_of_calls(facts, calls);
    let part = share.value.unwrap_or(0.0);
    let work = facts.work_done();
    let per_write = calls as f64 / work.writes.max(1) as f64;
    if calls < guards::few_calls(facts)
        || part < STORM_CALL_SHARE
        || (work.writes > 0 && per_write < STORM_PER_WORK)
    {
        return;
    }
    let repeats = part >= TABLE_SHARE && work.writes >= TABLE_WRITES && per_write >= TABLE_PER_WRITE;
    let often = Often::of(&CALLS, calls, None, &work).per_work_from("write", STORM_PER_WORK);
    let count = Measurement::count("calls", calls).at_least(guards::few_calls(facts) as f64);
    let part_of_calls = Measurement::share("share_of_calls", part).at_least(STORM_CALL_SHARE);
    let rates = often.behind_comma();
    let title = format!("{count} {} calls: {:.2} % of calls{rates}", row.name, part * 100.0);
    let (place, line) = facts.table_line(&row.name).unwrap_or_default();
    let finding = out
        .report(share, title)
        .measured(count)
        .measured(part_of_calls)
        .measured_all(often.figures())
        .subject(Subject { syscall: Some(row.name.clone()), ..Subject::default() })
        .cause(format!(
            "Nearly all the program does is ask about files, far more often than it gets work done, so it likely asks \
             about the same ones again and again. The table does not show which path: `strace -f -T -e trace={}` does.",
            row.name
        ))
        .fix(format!("first see the path: timeout 5 strace -f -ttT -e trace={} -o stat.st -p PID; then whyslow diagnose stat.st", row.name))
        .fix("if it is /etc/localtime: export TZ=:/etc/localtime")
        .fix("else: ask once and keep the answer, or watch the path with inotify")
        .verify(format!("perf trace -s -e {} -p PID sleep 4", row.name))
        .evidence_line(place, line)
        .confidence(if repeats { 0.7 } else { 0.4 });
    if repeats { finding.file() } else { finding.at_most(Severity::Notice).file() }
}
