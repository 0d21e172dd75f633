//! # directory-rescan
//!
//! ## What it is
//! The same directory is opened and listed again and again, and the listing is as long as the time before.
//!
//! ## Why it is slow
//! A listing costs an open, a getdents for each 32 KiB of entries, and usually a stat for each entry behind it.
//! A spool directory with 10,000 files that is listed ten times a second costs 100,000 entries a second to learn
//! that nothing has come.
//!
//! ## Example
//! ```text
//! openat(AT_FDCWD, "/var/spool/in", O_RDONLY|O_NONBLOCK|O_CLOEXEC|O_DIRECTORY) = 4
//! getdents64(4, 0x55d2 /* 9 entries */, 32768) = 312
//! getdents64(4, 0x55d2 /* 0 entries */, 32768) = 0
//! ```
//!
//! ## What to do instead
//! Let inotify tell of new entries and list once at the start; or list less often, and never once a request. Keep
//! old files in another directory, so that a listing is short.
//!
//! ## When it is wrong
//! A walk (`find`, `git status`, a backup) lists each directory once. Equal length does not prove equal names: a
//! file may have come while one of the same length went. Polling is right where inotify does not see changes
//! (network file systems, changes by other hosts): then lengthen the period.

use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::guards;
use crate::often::{Often, REPEATS};
use whyslow_facts::{Facts, FileFacts};
use whyslow_model::{CallStats, FdKind, Measurement, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "directory-rescan",
    group: "files",
    summary: "the same directory is listed again and again, and nothing has changed",
    source: include_str!("directory_rescan.rs"),
    needs: &[Need::AnyOf(&["getdents64", "getdents"])],
    check,
};

/// Equal listings from which on it is a habit and no start-up.
const MIN_RESCANS: u64 = 20;
/// Equal listings a second from which on it is worth a word: polling a few times a second is usual.
const RESCANS_PER_S: f64 = 5.0;
/// Listings of /proc and /sys a second up to which a monitor does its work (`top -d 0.1`).
const MONITOR_PER_S: f64 = 20.0;
/// Equal listings per request from which on they are part of its path.
const RESCANS_PER_REQUEST: f64 = 0.5;
/// Directories, each listed again too seldom to count by itself, from which on the walk of their tree is the subject.
const TREE: usize = 5;
/// More that are listed again and have a directory in common are a tree.
const MOST: usize = 3;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let again =
        facts.world.files.iter().map(|(_, file)| file).filter(|file| {
            file.rounds.same > 0 && file.directory_reads.count > 0 && !is_monitoring(facts, file)
        });
    let (mut often, rest): (Vec<&FileFacts>, Vec<&FileFacts>) =
        again.partition(|file| is_habit(facts, file.rounds.same, file.rounds.per_second()));
    often.sort_by_key(|file| std::cmp::Reverse((file.time_ns(), file.rounds.same)));
    if often.len() > MOST && !common_root(&often).is_empty() {
        return report_tree(facts, out, &often);
    }
    often.iter().for_each(|file| report(facts, out, file));
    let same: u64 = rest.iter().map(|file| file.rounds.same).sum();
    if often.is_empty()
        && rest.len() >= TREE
        && is_habit(facts, same, facts.window.per_second(same))
        && same >= 2 * rest.len() as u64
    {
        report_tree(facts, out, &rest);
    }
}

#[gated]
fn is_habit(facts: &Facts, same: u64, rate: Option<f64>) -> bool {
    let requests = facts.work.requests;
    let per_request = requests > 0 && same as f64 >= RESCANS_PER_REQUEST * requests as f64;
    same >= MIN_RESCANS && (per_request || facts.pace.untraced(rate).is_none_or(|rate| rate >= RESCANS_PER_S))
}

/// True for a directory that the kernel makes as it is listed, and that is listed as a monitor does.
#[gated]
fn is_monitoring(facts: &Facts, file: &FileFacts) -> bool {
    let root = matches!(&*file.path, "/proc" | "/sys");
    let made = root || FdKind::of_path(file.path.as_bytes()) == FdKind::Proc;
    made && facts.pace.untraced(file.rounds.per_second()).is_none_or(|rate| rate < MONITOR_PER_S)
}

/// Listings and opens of one directory.
fn cost(file: &FileFacts) -> CallStats {
    let mut cost = CallStats::clone(&file.directory_reads);
    cost.merge(&file.path_calls);
    cost
}

/// What a finding says.
struct Rescan<'a> {
    title: String,
    cause: String,
    path: &'a str,
    /// The directory whose lines are shown.
    example: &'a FileFacts,
    /// The thread, where only one did it.
    tid: Option<u32>,
    cost: CallStats,
    figures: Vec<Measurement>,
}

fn report(facts: &Facts, out: &mut Findings<'_>, file: &FileFacts) {
    let repeats = Measurement::count("repeats", file.rounds.same).at_least(MIN_RESCANS as f64);
    let often = often(facts, file.rounds.same, file.rounds.per_second());
    let each = Measurement::bytes("bytes_per_repeat", file.rounds.bytes_each());
    let title = format!(
        "{} listed {repeats} times more with the same outcome{}: {each} of entries each",
        file.path,
        often.in_brackets(),
    );
    let mean = Measurement::time("time_per_call", file.directory_reads.mean());
    let cause = format!(
        "The program polls the directory, and each listing reads all its entries (mean getdents {mean})."
    );
    let tid = Some(file.tid).filter(|_| !file.shared);
    let figures = [repeats].into_iter().chain(often.figures()).chain([each, mean]);
    let figures = figures.collect();
    write(
        facts,
        out,
        Rescan { title, cause, path: &file.path, example: file, tid, cost: cost(file), figures },
    );
}

/// A whole tree is walked over and over.
fn report_tree(facts: &Facts, out: &mut Findings<'_>, files: &[&FileFacts]) {
    let Some(&first) = files.first() else { return };
    let mut all = CallStats::default();
    files.iter().for_each(|file| all.merge(&cost(file)));
    let same: u64 = files.iter().map(|file| file.rounds.same).sum();
    let root = common_root(files);
    let directories = Measurement::count("directories", files.len() as u64);
    let repeats = Measurement::count("repeats", same).at_least(MIN_RESCANS as f64);
    let often = often(facts, same, facts.window.per_second(same));
    let title = format!(
        "{directories} directories under {} listed {repeats} times more with the same outcome{}",
        if root.is_empty() { "/" } else { root },
        often.in_brackets(),
    );
    let cause =
        "The program walks the tree over and over, and reads all entries of all its directories each time.";
    let alone = files.iter().all(|file| !file.shared && file.tid == first.tid);
    let tid = Some(first.tid).filter(|_| alone);
    let figures = [directories, repeats].into_iter().chain(often.figures()).collect();
    let cause = cause.to_string();
    write(facts, out, Rescan { title, cause, path: root, example: first, tid, cost: all, figures });
}

fn often(facts: &Facts, same: u64, rate: Option<f64>) -> Often {
    Often::of(&REPEATS, same, rate, &facts.work)
        .by_request()
        .per_second_from(facts, RESCANS_PER_S)
        .per_work_from("request", RESCANS_PER_REQUEST)
}

fn write(facts: &Facts, out: &mut Findings<'_>, rescan: Rescan<'_>) {
    let share = guards::share_of_time(facts, rescan.tid, &rescan.cost);
    let path = rescan.path;
    out.report(share, rescan.title)
        .measured_all(rescan.figures)
        .subject(Subject { path: Some(path.to_string()), ..Subjects::thread(facts, rescan.example.tid) })
        .cause(format!("{} The outcome was as long as before, so there was nothing new to find.", rescan.cause))
        .fix("code: inotify_add_watch(fd, DIR, IN_CREATE | IN_MOVED_TO | IN_DELETE) and list once at the start (python watchdog, Go fsnotify, Java WatchService, systemd .path units)")
        .fix("where inotify sees nothing (NFS, CIFS): list less often, or have the writer announce its files")
        .fix("never list on the path of a request: keep the listing, and renew it in the background")
        .verify(format!("inotifywait -m -r {path}   (shows how seldom it changes);  perf trace -e getdents64 -p PID sleep 4"))
        .saving(rescan.cost.total())
        .evidence_all(rescan.example.exemplars.iter())
        .file();
}

/// The longest directory that holds all.
fn common_root<'a>(files: &[&'a FileFacts]) -> &'a str {
    let first = files.first().map_or("", |file| &*file.path);
    files.iter().fold(first, |root, file| common_directory(root, &file.path))
}

/// The longest directory that holds both.
fn common_directory<'a>(a: &'a str, b: &str) -> &'a str {
    let mut end = 0;
    let mut at = 0;
    for (x, y) in a.split('/').zip(b.split('/')) {
        if x != y {
            break;
        }
        at += x.len();
        end = at;
        at += 1;
    }
    a.get(..end).unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::common_directory;

    #[test]
    fn common_directories() {
        assert_eq!(common_directory("/var/log/a", "/var/log/b/c"), "/var/log");
        assert_eq!(common_directory("/var/log", "/var/log/b"), "/var/log");
        assert_eq!(common_directory("/var", "/usr"), "");
    }
}
