//! # open-close-churn
//!
//! ## What it is
//! One file is opened, read and closed again and again, and each time it brings as much as the time before.
//!
//! ## Why it is slow
//! Each round costs at least four calls (open, fstat, read, close), a walk of the path with its permission checks,
//! and the parsing of what is read. At 1,000 rounds a second that is a good part of a CPU, for content that is
//! already known.
//!
//! ## Example
//! ```text
//! openat(AT_FDCWD, "/srv/app/template.html", O_RDONLY) = 7
//! read(7, "<!doctype html>..."..., 4096) = 1830
//! close(7) = 0
//! ```
//!
//! ## What to do instead
//! Read it once and keep the content; where it may change, compare its time or size with a stat, or watch it with
//! inotify. Or keep the descriptor open and use pread at offset 0.
//!
//! ## When it is wrong
//! Files of /proc and /sys are made anew by each read: monitors must read them again, and they are left out here,
//! as are settings (see `config-reread`) and zone files (see `tz-stat-storm`). Children of a shell that each open
//! a file once are not counted: see `fork-per-task`. Equal length does not prove equal content.
//! A server of files opens what it sends: once a request is a notice.

use crate::engine::{Findings, Need, Rule, Subjects};
use crate::{guards, words};
use whyslow_facts::{Facts, FileFacts, names};
use whyslow_model::{FdKind, Nanos, Severity, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "open-close-churn",
    group: "files",
    summary: "one file is opened, read and closed again and again, with the same content",
    source: include_str!("open_close_churn.rs"),
    needs: &[Need::AnyOf(&["open", "openat", "openat2"])],
    check,
};

/// Equal rounds a second from which on it is churn: reading a small file each second or each minute costs nothing.
const ROUNDS_PER_S: f64 = 20.0;
/// Equal rounds from which on it is a habit and no start-up.
const MIN_ROUNDS: u64 = 50;
/// Without a clock: the part of all calls from which on it is churn.
const CALL_SHARE: f64 = 0.3;
/// Calls of a round besides those that are counted by path or descriptor: the close.
const CLOSES_PER_ROUND: u64 = 1;
/// Rounds for each request that are its own: the file is what was asked for.
const SERVED: f64 = 1.2;
/// Findings at most: the rest is summed up.
const MOST: usize = 3;

fn check(facts: &Facts, out: &mut Findings<'_>) {
    let files = facts.world.files.iter().map(|(_, file)| file);
    let mut churned: Vec<&FileFacts> = files.filter(|file| is_plain(file) && is_churn(facts, file)).collect();
    churned.sort_by_key(|file| std::cmp::Reverse((file.time_ns(), file.rounds.same)));
    let more: u64 = churned.iter().skip(MOST).map(|file| file.rounds.same).sum();
    for (i, file) in churned.iter().take(MOST).enumerate() {
        let aside = match more {
            more if more > 0 && i + 1 == MOST => {
                format!(
                    " {} more files are read over and over, {} times in all.",
                    churned.len() - MOST,
                    words::count(more)
                )
            }
            _ => String::new(),
        };
        report(facts, out, file, &aside);
    }
}

/// True for a file whose content is its own: not made by the kernel, not a directory, not another rule's subject.
fn is_plain(file: &FileFacts) -> bool {
    file.directory_reads.count == 0
        && FdKind::of_path(file.path.as_bytes()) == FdKind::File
        && !names::is_configuration(&file.path)
        && !names::is_zone_file(&file.path)
}

fn is_churn(facts: &Facts, file: &FileFacts) -> bool {
    let rounds = &file.rounds;
    rounds.same >= MIN_ROUNDS
        && match facts.pace.untraced(rounds.per_second()) {
            Some(rate) => rate >= ROUNDS_PER_S,
            None => guards::share_of_calls(facts, calls(file)).value.is_some_and(|share| share >= CALL_SHARE),
        }
}

fn calls(file: &FileFacts) -> u64 {
    file.calls() + CLOSES_PER_ROUND * file.rounds.count
}

fn report(facts: &Facts, out: &mut Findings<'_>, file: &FileFacts, aside: &str) {
    let rounds = &file.rounds;
    let time = if facts.capture.has_durations() { Nanos::new(file.time_ns()) } else { Nanos::UNKNOWN };
    let share = guards::share_of_storm(facts, Some(file.tid).filter(|_| !file.shared), time, calls(file));
    let mut often: Vec<String> = Vec::new();
    often.extend(rounds.per_second().map(|rate| format!("{} a second", words::quantity(rate))));
    often.extend(Some(facts.work.rates(rounds.same)).filter(|rates| !rates.is_empty()));
    let often = if often.is_empty() { String::new() } else { format!(" ({})", often.join(", ")) };
    // A server of files opens for each request what it sends.
    let serves = rounds.same as f64 <= SERVED * facts.work.requests as f64;
    out.report(
        share,
        format!(
            "{} opened, read and closed {} times more{often}: the same {} each time",
            file.path,
            words::count(rounds.same),
            words::bytes(rounds.bytes_each()),
        ),
    )
    .at_most(if serves { Severity::Notice } else { Severity::Critical })
    .subject(Subject { path: Some(file.path.to_string()), ..Subjects::thread(facts, file.tid) })
    .cause(format!(
        "The program does not keep what it read, {} in all, so each use pays an open, the reads and a close again. \
         The length was the same each time, so the content most likely was too.{aside}",
        words::bytes(rounds.same_bytes),
    ))
    .fix("code: read it once and keep the content; reload when inotify or a stat at most once a second shows a new time or size")
    .fix("code: or keep the descriptor open and pread(fd, buf, n, 0)")
    .fix("servers: nginx open_file_cache max=1000 inactive=60s; PHP opcache.enable=1; template engines: switch auto-reload off in production (Jinja2 auto_reload=False, Django cached.Loader)")
    .verify(format!("opensnoop -p PID -n {}   (bcc; or: strace -f -e trace=openat -P '{}' -p PID)", Subjects::thread(facts, file.tid).comm.unwrap_or_else(|| "NAME".to_string()), file.path))
    .saving(time)
    .evidence_all(file.exemplars.iter())
    .evidence_all(file.reads.iter().flat_map(|io| io.exemplars.first.as_deref()))
    .file();
}
