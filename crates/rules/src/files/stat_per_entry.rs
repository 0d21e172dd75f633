//! # stat-per-entry
//!
//! ## What it is
//! A directory is listed, and then each of its entries is asked for with a stat of its own.
//!
//! ## Why it is slow
//! The listing tells names, inode numbers and kinds (file, directory, link) already. A stat adds a call a name, and on a
//! cold cache a read of the disk, on NFS a question to the server: a thousand of these at a millisecond are a second.
//!
//! ## Example
//! ```text
//! getdents64(3, 0x55d0c8 /* 812 entries */, 32768) = 26000 <0.000512>
//! newfstatat(AT_FDCWD, "/var/spool/q/000001", {st_mode=S_IFREG|0644, …}, AT_SYMLINK_NOFOLLOW) = 0 <0.000018>
//! ```
//!
//! ## What to do instead
//! Use the kind that readdir gives (`d_type`; Python os.scandir, Go os.ReadDir, Node withFileTypes); ask only for entries
//! whose names are of interest; only the fields that are wanted (statx mask).
//!
//! ## When it is wrong
//! What compares times and sizes (rsync, make, backup, git) needs them: for such programs it is a notice. Below 500
//! entries or 5 % of the thread's time nothing is said.

use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::{guards, sums, words};
use std::collections::BTreeMap;
use whyslow_facts::{Facts, FileFacts};
use whyslow_model::{CallStats, Measurement, Severity, Subject, Syscall};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "stat-per-entry",
    group: "files",
    summary: "a directory is listed, and each of its entries is then asked for by itself",
    source: include_str!("stat_per_entry.rs"),
    needs: &[
        Need::Either(&[Need::Calls, Need::Sums]),
        Need::Either(&[Need::Durations, Need::Sums]),
        Need::Either(&[Need::AnyOf(&["getdents64", "getdents"]), Need::Sums]),
    ],
    check,
};

/// Entries asked for: fewer cost a few milliseconds.
const MIN_ENTRIES: u64 = 500;
/// Of the entries that the listing can have told at most, by its bytes: else the names came from elsewhere.
const OF_LISTED: f64 = 0.5;
/// Opened as well: then the stat is a small part of what is done with each.
const OPENED: f64 = 0.5;
/// Programs that compare times and sizes, or show them.
const COMPARE: [&str; 13] = [
    "rsync", "make", "ninja", "git", "tar", "borg", "restic", "du", "find", "ls", "backup", "updatedb",
    "unison",
];
/// In sums: names that one getdents can bring: the buffer of the common libraries is 32 KiB, a name takes 24 bytes and more.
const MOST_LISTED: u64 = 32 * 1024 / 24;
/// In sums: entries asked for with each getdents. Fewer are a walk of small directories, whose listing costs as much.
const FEW_LISTED: u64 = 10;
/// In sums: the listing's time as a part of what asking for its entries takes. The kernel brings a name in a tenth of the time of a stat; where
/// the listing took much less, it was another one.
const LISTING: f64 = 0.05;
/// Calls that ask for one path.
const STATS: [Syscall; 4] = [Syscall::NEWFSTATAT, Syscall::STAT, Syscall::LSTAT, Syscall::STATX];

/// What was asked of a directory's entries.
#[derive(Default)]
struct Entries<'a> {
    asked: u64,
    opened: u64,
    calls: CallStats,
    first: Option<&'a FileFacts>,
}

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let files = &facts.world.files;
    let mut by_directory: BTreeMap<&str, Entries<'_>> = BTreeMap::new();
    for (_, file) in files.iter().filter(|(_, file)| file.stats > 0) {
        let Some((directory, _)) = file.path.rsplit_once('/') else { continue };
        let entries = by_directory.entry(directory).or_default();
        entries.asked += 1;
        entries.opened += u64::from(file.opens > 0);
        entries.calls.merge(&file.path_calls);
        entries.first = entries.first.or(Some(file));
    }
    let mut found: Vec<_> = by_directory
        .into_iter()
        .filter_map(|(path, entries)| {
            let directory = files.find(path).or_else(|| files.find(&format!("{path}/")))?;
            let listed = directory.listed_entries();
            let told = listed > 0 && entries.asked as f64 >= OF_LISTED * listed as f64;
            let only_asked = (entries.opened as f64) < OPENED * entries.asked as f64;
            (entries.asked >= MIN_ENTRIES && told && only_asked).then_some((path, entries, listed))
        })
        .filter_map(|(path, entries, listed)| {
            let first = entries.first?;
            let tid = (!first.shared).then_some(first.tid);
            let share = guards::share_of_time(facts, tid, &entries.calls);
            Some((share, path, entries, listed, first))
        })
        .collect();
    found.sort_by(|a, b| b.2.calls.total_ns.cmp(&a.2.calls.total_ns).then_with(|| a.1.cmp(b.1)));
    if found.is_empty() {
        check_sums(facts, out);
    }
    for (share, path, entries, listed, first) in found {
        let subject = Subjects::thread(facts, first.tid);
        let compares = compares(&subject);
        let asked = Measurement::count("entries", entries.asked).at_least(MIN_ENTRIES as f64);
        let time = Measurement::time("time", entries.calls.total());
        let each = Measurement::time("time_per_call", entries.calls.mean());
        let of_listed = entries.asked as f64 / listed.max(1) as f64;
        let opened = entries.opened as f64 / entries.asked.max(1) as f64;
        out.report(share, format!("{path}: listed, and then {asked} entries asked for one by one, {time} in all"))
            .at_most(if compares { Severity::Notice } else { Severity::Warning })
            .subject(Subject { path: Some(path.to_string()), ..subject })
            .cause(format!("The listing says of each entry whether it is a file, a directory or a link; each stat is a call more ({each} on average), and a read of the disk where its inode is not in memory."))
            .measured_all([asked, time, each])
            .measured(Measurement::share("share_of_listed", of_listed).at_least(OF_LISTED))
            .measured(Measurement::share("share_of_entries_opened", opened).at_most(OPENED))
            .fix(LIST)
            .fix(CHOOSE)
            .fix("ls: unalias ls, or ls --color=never -U (colours need a stat each)")
            .verify(VERIFY)
            .from_together(guards::WARNING_SHARE)
            .saving(entries.calls.total())
            .evidence_line(facts.capture.first_name(), format!("{}: {}, the first {}", path, words::plural(entries.calls.count, "call"), first.path))
            .evidence_all(first.exemplars.iter())
            .file();
    }
}

/// The remedies.
const LIST: &str = "code: os.scandir and entry.is_file() (Python), os.ReadDir and entry.Type() (Go), readdir with withFileTypes (Node), d_type (C), Files.walkFileTree (Java)";
const CHOOSE: &str = "choose by name first; ask only for what is left; statx with the fields that are wanted and AT_STATX_DONT_SYNC on network file systems";
/// The check.
const VERIFY: &str =
    "strace -c -f -e trace=getdents64,newfstatat,statx,lstat -p PID   (about one stat an entry)";

/// True of a program whose work is to compare or to show what a stat brings.
fn compares(subject: &Subject) -> bool {
    subject.comm.as_deref().is_some_and(|comm| COMPARE.iter().any(|name| comm.starts_with(name)))
}

/// Sums of calls: a thread that lists, asks for about as many paths as the listings bring, and opens few of them.
#[gated]
fn check_sums(facts: &Facts, out: &mut Findings<'_>) {
    let mut found: Vec<_> = sums::by_thread(facts)
        .filter_map(|sums| {
            let asked = sums.of(&STATS);
            let listed = sums.of(&[Syscall::GETDENTS64, Syscall::GETDENTS]);
            let opened = sums.of(&[Syscall::OPENAT, Syscall::OPEN]);
            let told = listed.count.saturating_mul(FEW_LISTED)..=listed.count.saturating_mul(MOST_LISTED);
            let share = sums.share(asked.total());
            let of_entries = asked.count >= MIN_ENTRIES
                && told.contains(&asked.count)
                && asked.errors.saturating_mul(2) < asked.count
                && listed.total_ns as f64 >= LISTING * asked.total_ns as f64
                && (opened.count as f64) < OPENED * asked.count as f64;
            (of_entries && sums::is_cause(&share)).then_some((sums, asked, listed, opened, share))
        })
        .collect();
    found.sort_by_key(|(_, asked, ..)| std::cmp::Reverse((asked.total_ns, asked.count)));
    for (sums, asked, listed, opened, share) in found {
        let tid = sums.thread.tid;
        let subject = Subjects::thread(facts, tid);
        let most = if compares(&subject) { Severity::Notice } else { Severity::Warning };
        let stats = Measurement::count("calls", asked.count).at_least(MIN_ENTRIES as f64);
        let listings = Measurement::count("listing_calls", listed.count);
        let calls = format!("{stats} stats after {listings} getdents");
        let time = Measurement::time("time", asked.total());
        let each = Measurement::time("time_per_call", asked.mean());
        let opened = opened.count as f64 / asked.count.max(1) as f64;
        out.report(share, format!("thread {tid}: directories are listed, and their entries then asked for one by one: {calls}, {time} in all"))
            .at_most(most)
            .subject(subject)
            .cause(format!(
                "The listing says of each entry whether it is a file, a directory or a link; each stat is a call more ({each} on average). Calls were only \
                 counted: the directory is not recorded."
            ))
            .measured_all([stats, listings, time, each])
            .measured(Measurement::share("share_of_entries_opened", opened).at_most(OPENED))
            .fix(LIST)
            .fix(CHOOSE)
            .verify(VERIFY)
            .saving(asked.total())
            .evidence_line(facts.capture.first_name(), format!("thread {tid}: {calls}, {} and {}", asked.total(), listed.total()))
            .file();
    }
}
