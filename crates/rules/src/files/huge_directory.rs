//! # huge-directory
//!
//! ## What it is
//! A directory with a hundred thousand entries and more is listed.
//!
//! ## Why it is slow
//! A listing reads all of its blocks, a call for each few hundred names; what then looks at each entry makes as many calls
//! more. Making and removing files in it becomes slower as well, and a backup or `ls` takes minutes.
//!
//! ## Example
//! ```text
//! getdents64(3, 0x55d0c8 /* 1021 entries */, 32768) = 32752 <0.004120>
//! ```
//!
//! ## What to do instead
//! Spread the files over directories by the first characters of a hash or by date, remove old ones, or keep small things in
//! one file (SQLite, a log).
//!
//! ## When it is wrong
//! A backup that lists it once a day does what it is for: one listing is a notice.

use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::{guards, words};
use whyslow_facts::{Facts, FileFacts};
use whyslow_model::{Measurement, Severity, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "huge-directory",
    group: "files",
    summary: "a directory with a hundred thousand entries and more is listed",
    source: include_str!("huge_directory.rs"),
    needs: &[Need::Calls, Need::AnyOf(&["getdents64", "getdents"])],
    check,
};

/// Entries of a huge one.
const MIN_ENTRIES: u64 = 100_000;
/// From this many listings on it is a habit.
const AGAIN: u64 = 2;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let files = facts.world.files.iter().map(|(_, file)| file);
    let mut huge: Vec<(u64, &FileFacts)> = files
        .map(|file| (file.listed_entries(), file))
        .filter(|(entries, file)| *entries >= MIN_ENTRIES && !file.path.starts_with("/proc"))
        .collect();
    huge.sort_by(|a, b| {
        (b.1.time_ns(), b.0).cmp(&(a.1.time_ns(), a.0)).then_with(|| a.1.path.cmp(&b.1.path))
    });
    for (entries, file) in huge {
        let listings = file.listings();
        let calls = &file.directory_reads;
        let share =
            guards::share_of_ns(facts, (!file.shared).then_some(file.tid), calls.total(), calls.count);
        let time = match calls.total() {
            total if total.is_known() => format!(", {total} in all"),
            _ => String::new(),
        };
        let entries = Measurement::count("entries", entries).at_least(MIN_ENTRIES as f64);
        let times = Measurement::count("listings", listings);
        let each = Measurement::count("calls_per_listing", calls.count / listings.max(1));
        out.report(share, format!("{} has about {entries} entries and is listed {}{time}", file.path, if listings == 1 { "once".to_string() } else { format!("{times} times") }))
            .at_most(if listings >= AGAIN { Severity::Warning } else { Severity::Notice })
            .subject(Subject { path: Some(file.path.to_string()), ..Subjects::thread(facts, file.tid) })
            .cause(format!("A listing takes {each} calls of getdents, each of which reads blocks of the directory and looks up nothing for the program."))
            .measured(entries)
            .measured(times)
            .measured(Measurement::time("time", calls.total()))
            .measured(each)
            .fix("spread the files: two levels by the first characters of a hash (ab/cd/…), or a directory a day")
            .fix("remove what is old (find DIR -mtime +7 -delete, systemd-tmpfiles); an emptied directory stays large on ext4: make a new one")
            .fix("keep small things in one file (SQLite, LMDB, a log), and known names instead of listing")
            .verify(format!("ls -U {} | wc -l; strace -c -e trace=getdents64 ls -U {}", file.path, file.path))
            .saving(calls.total())
            .evidence_line(facts.capture.first_name(), format!("{}: {} of getdents, {} of entries", file.path, words::plural(calls.count, "call"), words::bytes(calls.bytes)))
            .evidence_all(file.exemplars.iter())
            .file();
    }
}
