//! # rename-fsync-storm
//!
//! ## What it is
//! A program saves each item as a file of its own, the safe way: written under another name, synced, renamed into place.
//!
//! ## Why it is slow
//! Each save waits for the device at least once, for the file system's journal, and once more where the directory is synced too. That is right
//! for one file that must survive a crash; for each of thousands of items it sets the pace: a few hundred items a second on a good SSD,
//! whatever the CPU could do.
//!
//! ## Example
//! ```text
//! openat(AT_FDCWD, "/srv/q/17.json.tmp", O_WRONLY|O_CREAT|O_TRUNC, 0644) = 5 <0.000050>
//! write(5, "{\"qty\": 7}", 10) = 10 <0.000020>
//! fsync(5) = 0 <0.004100>
//! rename("/srv/q/17.json.tmp", "/srv/q/17.json") = 0 <0.000090>
//! ```
//!
//! ## What to do instead
//! Save a batch at once: write all its files, sync the file system once (`syncfs`), then rename them; or keep the items in one file (a manifest, a log that
//! is appended to, SQLite) that is saved once for many.
//!
//! ## When it is wrong
//! A configuration that is saved once, or a snapshot of megabytes, is what the pattern is for: fewer than twenty saves, and large files, are
//! left out. Files that are renamed without a sync are none.

use crate::engine::{Findings, Need, Report, Rule, Subjects};
use crate::gate::gated;
use crate::guards::{self, Share};
use crate::sums::{self, Sums};
use whyslow_facts::Facts;
use whyslow_facts::folds::safe_saves::Saves;
use whyslow_model::{CallStats, Measurement, Nanos, Severity, Subject, Syscall};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "rename-fsync-storm",
    group: "io",
    summary: "each item is a file that is written, synced and renamed into place",
    source: include_str!("rename_fsync_storm.rs"),
    needs: &[
        Need::Either(&[Need::AnyOf(&["fsync", "fdatasync"]), Need::Sums]),
        Need::Either(&[Need::AnyOf(&["rename", "renameat", "renameat2"]), Need::Sums]),
    ],
    check,
};

/// Fewer are a save, an installation, a shutdown (as for fsync-per-write).
const MIN_SAVES: u64 = 20;
/// Bytes of a file from which on the device's throughput counts, not its latency (as for fsync-per-write).
const LARGE: u64 = 256 * 1024;
/// Of renames that were only counted: syncs for each, at least and at most. One is of the file, one may be of its directory, and some are tried again.
const SYNCS_PER_RENAME: [f64; 2] = [0.8, 3.0];
const RENAMES: &[Syscall] = &[Syscall::RENAME, Syscall::RENAMEAT, Syscall::RENAMEAT2];
const SYNCS: &[Syscall] = &[Syscall::FSYNC, Syscall::FDATASYNC];

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let mut rows: Vec<&Saves> = facts.safe_saves.rows.iter().filter(|row| is_storm(row)).collect();
    rows.sort_by_key(|row| std::cmp::Reverse((row.ns, row.saves)));
    for row in rows.iter() {
        report(facts, out, row);
    }
    if rows.is_empty() {
        for sums in sums::by_thread(facts) {
            of_sums(facts, out, &sums);
        }
    }
}

#[gated]
fn is_storm(row: &Saves) -> bool {
    row.saves >= MIN_SAVES && row.bytes / row.saves.max(1) <= LARGE
}

fn advised<'f, 'a>(report: Report<'f, 'a>) -> Report<'f, 'a> {
    report
        .fix("code: save in batches: write all files of a batch, syncfs once, then rename them all; answer who waits for a save after that")
        .fix("code: many small items in one file: a log that is appended to and synced once for a batch, SQLite in one transaction, or one manifest that is renamed")
        .fix("what can be made anew (caches, indexes, progress) needs no sync: rename alone keeps readers from half a file")
        .verify("strace -f -c -e trace=fsync,fdatasync,rename,renameat,renameat2 -p PID   (after: fewer syncs than items)")
}

fn report(facts: &Facts, out: &mut Findings<'_>, row: &Saves) {
    let tid = Some(row.tid).filter(|_| !row.shared);
    let time = row.time();
    let share = guards::share_of_ns(facts, tid, time, row.saves.saturating_add(row.syncs));
    let saves = Measurement::count("saves", row.saves).at_least(MIN_SAVES as f64);
    let rate = facts.window.per_second(row.saves);
    let rate = rate.map(|rate| Measurement::per_second("saves_per_second", rate));
    let often = rate.as_ref().map_or(String::new(), |rate| format!(", {rate} per second"));
    let each = Nanos::new(row.ns / row.saves.max(1));
    let each = time.is_known().then(|| Measurement::time("time_per_save", each));
    let took = each.as_ref().map_or(String::new(), |each| format!(", {each} each"));
    let bytes = Measurement::bytes("bytes_per_save", row.bytes / row.saves.max(1)).at_most(LARGE as f64);
    let syncs = Measurement::count("syncs", row.syncs);
    let most = if time.is_known() { Severity::Critical } else { Severity::Warning };
    let subject = Subjects::thread(facts, row.tid);
    let subject = if row.shared { Subject { tid: None, ..subject } } else { subject };
    let title = format!("{}: {saves} files written, synced and renamed one by one{took}{often}", row.pattern);
    advised(out.report(share, title))
        .at_most(most)
        .subject(Subject { path: Some(row.pattern.to_string()), ..subject })
        .cause(format!(
            "Each item is saved for good by itself, {bytes} of it: {syncs} syncs wait for the device and the journal, one behind the other, and nothing else is done meanwhile."
        ))
        .measured_all([saves, syncs, bytes])
        .measured_all(each.into_iter().chain(rate))
        .saving(time)
        .evidence_all(row.syncs_seen.iter())
        .evidence(row.renames_seen.first.as_deref())
        .file();
}

/// A thread whose calls were only counted: about as many syncs as renames.
#[gated]
fn of_sums(facts: &Facts, out: &mut Findings<'_>, sums: &Sums<'_>) {
    let (renames, syncs) = (sums.of(RENAMES), sums.of(SYNCS));
    let saves = renames.count.saturating_sub(renames.errors);
    let per_rename = syncs.count as f64 / saves.max(1) as f64;
    let [least, most] = SYNCS_PER_RENAME;
    if saves < MIN_SAVES || !(least..=most).contains(&per_rename) {
        return;
    }
    let mut both = CallStats::default();
    both.merge(&renames);
    both.merge(&syncs);
    let share: Share = sums.share(both.total());
    if !sums::is_cause(&share) {
        return;
    }
    let tid = sums.thread.tid;
    let subject = Subjects::thread(facts, tid);
    let saves = Measurement::count("saves", saves).at_least(MIN_SAVES as f64);
    let synced = Measurement::count("syncs", syncs.count);
    let title =
        format!("{}: {saves} files renamed and {synced} synced, one by one", Subjects::words(&subject));
    advised(out.report(share, title))
        .at_most(Severity::Critical)
        .subject(subject)
        .cause(format!(
            "The thread renames about as many files as it syncs: each is saved for good by itself. The calls took {}; they were only counted, so that the files are not known.",
            both.total()
        ))
        .measured_all([saves, synced])
        .measured(Measurement::number("syncs_per_rename", per_rename).at_least(least))
        .measured(Measurement::time("time", both.total()))
        .saving(both.total())
        .evidence_line(
            facts.capture.first_name().to_string(),
            format!("thread {tid}: {} syncs in {}, {} renames", syncs.count, syncs.total(), renames.count),
        )
        .file();
}
