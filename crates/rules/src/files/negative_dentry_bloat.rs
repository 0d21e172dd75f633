//! # negative-dentry-bloat
//!
//! ## What it is
//! A program asks for files by names that are new each time, and that are never there.
//!
//! ## Why it is slow
//! The kernel remembers each name that it looked up in vain (a negative dentry). That makes the second question cheap, but here there is none: each lookup goes to the
//! file system, which searches its directory, and leaves an entry of 200 bytes behind. Millions of them fill memory, and everybody's lookups and the kernel's
//! search for free memory get slower.
//!
//! ## Example
//! ```text
//! stat("/var/cache/app/80e714dc7507cef4.cache", 0x7ffd…) = -1 ENOENT (No such file or directory) <0.000012>
//! stat("/var/cache/app/e4c0606d7dba5dc0.cache", 0x7ffd…) = -1 ENOENT (No such file or directory) <0.000011>
//! ```
//!
//! ## What to do instead
//! Do not ask for what cannot be there: keep an index of what is in the directory (in memory, a Bloom filter, SQLite), or open with O_CREAT|O_EXCL at once. Mend the
//! generator where the names should have been the same.
//!
//! ## When it is wrong
//! A cache that is filled asks for each name once and then makes the file: where what was missing is made or found later, nothing is said. The same names in several directories are a
//! search (path-search-miss). A crawl that asks for many names at once and then no more is a notice.

use super::new_names::{self, FIX_CREATE, FIX_PILE, FIX_SET, MISSING, NAMES_PER_S, VERIFY};
use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::{guards, words};
use std::collections::BTreeMap;
use whyslow_facts::exemplar::Exemplars;
use whyslow_facts::{Facts, FileFacts};
use whyslow_model::syscall::Class;
use whyslow_model::{CallStats, Measurement, Severity, Subject, Tid, Timestamp};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "negative-dentry-bloat",
    group: "files",
    summary: "files are asked for by ever new names that are not there",
    source: include_str!("negative_dentry_bloat.rs"),
    needs: &[Need::Calls, Need::Class(Class::File)],
    check,
};

/// Names that are not there, of one directory: a start or a search asks for some hundred.
const MIN_NAMES: u64 = 1_000;
/// Questions for each name, on average at most: they are not asked for again.
const ASKED_PER_NAME: f64 = 2.0;
/// Of the recorded time, the part from the first to the last of them: what is asked for at once, at a start or by a crawl, goes by.
const LASTS: f64 = 0.2;
/// Of the lookups in vain, those of searches along several directories from which on they are another smell.
const SEARCHES: f64 = 0.5;

/// What was asked for in one directory.
#[derive(Default)]
struct Asked {
    /// Names that are not there.
    names: u64,
    /// Names that are, or were made later.
    found: u64,
    misses: CallStats,
    tid: Tid,
    shared: bool,
    lines: Exemplars,
    example: String,
    /// From the first to the last that was missing.
    first: Timestamp,
    last: Timestamp,
}

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let mut directories: BTreeMap<String, Asked> = BTreeMap::new();
    let files = facts.world.files.iter().map(|(_, file)| file);
    for file in files.chain(facts.world.files.merged.values()) {
        if missing(file) == 0 && !file.path.starts_with('/') {
            continue;
        }
        let Some((directory, _)) = file.path.rsplit_once('/') else { continue };
        directories.entry(directory.to_string()).or_default().add(file);
    }
    let searched = facts.searches.misses.count as f64;
    let all: u64 = directories.values().map(|asked| asked.misses.count).fold(0, u64::saturating_add);
    if searched >= SEARCHES * all as f64 && searched > 0.0 {
        return;
    }
    let mut found: Vec<_> = directories.into_iter().filter(|(_, asked)| asked.is_bloat(facts)).collect();
    found.sort_by_key(|(_, asked)| std::cmp::Reverse((asked.misses.total_ns, asked.names)));
    for (directory, asked) in found.iter() {
        report(facts, out, directory, asked);
    }
    if found.is_empty() && facts.recording.is_partial() {
        new_names::report(facts, out);
    }
}

fn missing(file: &FileFacts) -> u64 {
    file.stats_missing.saturating_add(file.open_failures)
}

impl Asked {
    #[gated]
    fn add(&mut self, file: &FileFacts) {
        let paths = file.merged.max(1);
        let misses = missing(file);
        let there = file.stats.saturating_sub(file.stats_missing).saturating_add(file.opens);
        let is_made = file.creates.saturating_add(file.renames_to) > 0;
        // Of paths that were merged some may be there.
        let is_missing = misses > 0 && !is_made && there as f64 <= (1.0 - MISSING) * misses as f64;
        if !is_missing || file.merged == 0 && there > 0 {
            self.found = self.found.saturating_add(paths);
            return;
        }
        self.names = self.names.saturating_add(paths);
        self.misses.merge(&file.path_calls);
        self.shared |= file.shared || self.tid != 0 && self.tid != file.tid;
        if self.tid == 0 {
            self.tid = file.tid;
        }
        self.lines.merge(&file.exemplars);
        if !self.first.is_known() || file.first.is_known() && file.first < self.first {
            self.first = file.first;
        }
        if !self.last.is_known() || file.last.is_known() && file.last > self.last {
            self.last = file.last;
        }
        if self.example.is_empty() && file.merged == 0 {
            self.example = file.path.to_string();
        }
    }

    /// The part of the recorded time in which it was done; `None` without a clock.
    #[gated]
    fn lasts(&self, facts: &Facts) -> Option<f64> {
        let whole = facts.window.whole().as_secs_f64().filter(|whole| *whole > 0.0)?;
        Some((self.last.since(self.first).as_secs_f64()? / whole).min(1.0))
    }

    #[gated]
    fn is_bloat(&self, facts: &Facts) -> bool {
        let rate = facts.pace.untraced(facts.window.per_second(self.names));
        self.names >= MIN_NAMES
            && rate.is_none_or(|rate| rate >= NAMES_PER_S)
            && self.misses.count as f64 <= ASKED_PER_NAME * self.names as f64
            && self.names as f64 >= MISSING * self.names.saturating_add(self.found) as f64
    }
}

#[gated]
fn report(facts: &Facts, out: &mut Findings<'_>, directory: &str, asked: &Asked) {
    let tid = Some(asked.tid).filter(|_| !asked.shared);
    let share = guards::share_of_storm(facts, tid, asked.misses.total(), asked.misses.count);
    let names = Measurement::count("names", asked.names).at_least(MIN_NAMES as f64);
    let each = asked.misses.count as f64 / asked.names.max(1) as f64;
    let each = Measurement::number("lookups_per_name", each).at_most(ASKED_PER_NAME);
    let rate = facts.window.per_second(asked.names);
    let rates =
        guards::rate_figures(facts, ["names_per_second", "names_per_second_untraced"], rate, NAMES_PER_S);
    let often = rates.first().map_or(String::new(), |rate| format!(", {rate} per second"));
    let part = asked.names as f64 / asked.names.saturating_add(asked.found).max(1) as f64;
    let part = Measurement::share("share_not_there", part).at_least(MISSING);
    let mean = Measurement::time("time_per_lookup", asked.misses.mean());
    let took = mean.value.map_or(String::new(), |_| format!(" A lookup took {mean} on average."));
    let lasts = asked.lasts(facts);
    let goes_by = lasts.is_some_and(|part| part < LASTS);
    let lasts = lasts.map(|part| guards::passed(Measurement::share("share_of_recorded_time", part), LASTS));
    let most = if goes_by { Severity::Notice } else { Severity::Critical };
    let as_this = match asked.example.is_empty() {
        true => String::new(),
        false => format!(", as {}", asked.example),
    };
    let subject = Subjects::thread(facts, if asked.shared { 0 } else { asked.tid });
    let pattern = format!("{directory}/*");
    let line =
        format!("{names} names below {directory} in {} lookups{as_this}", words::count(asked.misses.count));
    out.report(share, format!("{pattern}: {names} names asked for that are not there, each of them new{often}"))
        .at_most(most)
        .subject(Subject { path: Some(pattern), ..subject })
        .cause(format!(
            "{part} of the names asked for in that directory are not there{as_this}. Each new name is searched in the file system, and the kernel keeps an entry for it until memory is short.{took}"
        ))
        .measured_all([names, each, part, mean])
        .measured_all(lasts)
        .measured_all(rates)
        .fix(FIX_SET)
        .fix(FIX_CREATE)
        .fix(FIX_PILE)
        .verify(VERIFY)
        .saving(asked.misses.total())
        .evidence_all(asked.lines.iter())
        .evidence_line(facts.capture.first_name().to_string(), line)
        .file();
}
