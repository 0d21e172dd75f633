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
//! as are settings (see `config-reread`), zone files (see `tz-stat-storm`), and files that are large and read several times
//! over (see `file-reread` and `archive-reread`). Children of a shell that each open
//! a file once are not counted: see `fork-per-task`. Equal length does not prove equal content.
//! A server of files opens what it sends: once a request is a notice.

use super::rounds::Reopened;
use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::guards;
use crate::io::reread::is_told_as_read_over;
use crate::often::{Often, REPEATS};
use whyslow_facts::{Facts, FileFacts, names};
use whyslow_model::{FdKind, Measurement, Severity, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "open-close-churn",
    group: "files",
    summary: "one file is opened, read and closed again and again, with the same content",
    source: include_str!("open_close_churn.rs"),
    needs: &[Need::Either(&[Need::AnyOf(&["open", "openat", "openat2"]), Need::Table("files")])],
    check,
};

/// Equal rounds a second from which on it is churn: reading a small file each second or each minute costs nothing.
const ROUNDS_PER_S: f64 = 20.0;
/// So many rounds a second take a tenth of a CPU by themselves: an open, a read and a close of a file in the page cache take ten microseconds.
const COSTLY_PER_S: f64 = 10_000.0;
/// Equal rounds from which on it is a habit and no start-up.
const MIN_ROUNDS: u64 = 50;
/// Without a clock: the part of all calls from which on it is churn.
const CALL_SHARE: f64 = 0.3;
/// Rounds for each request that are its own: the file is what was asked for.
const SERVED: f64 = 1.2;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let files = facts.world.files.iter().filter(|(_, file)| is_plain(file));
    let mut churned: Vec<Reopened<'_>> = files
        .map(|(id, file)| Reopened::of(facts, id, file))
        .filter(|again| is_churn(facts, again))
        .collect();
    if churned.is_empty() {
        return;
    }
    churned.sort_by_key(|again| std::cmp::Reverse((again.time.or_zero(), again.times)));
    churned.iter().for_each(|again| report(facts, out, again));
}

/// True for a file whose content is its own: not made by the kernel, not a directory, not another rule's subject.
fn is_plain(file: &FileFacts) -> bool {
    file.directory_reads.count == 0
        && FdKind::of_path(file.path.as_bytes()) == FdKind::File
        && !names::is_configuration(&file.path)
        && !names::is_zone_file(&file.path)
        && !is_told_as_read_over(file)
}

#[gated]
fn is_churn(facts: &Facts, again: &Reopened<'_>) -> bool {
    again.times >= MIN_ROUNDS
        && match facts.pace.untraced(again.per_s) {
            Some(rate) => rate >= ROUNDS_PER_S,
            None => guards::share_of_calls(facts, again.calls).value.is_some_and(|share| share >= CALL_SHARE),
        }
}

#[gated]
fn report(facts: &Facts, out: &mut Findings<'_>, again: &Reopened<'_>) {
    let file = again.file;
    let share = again.share(facts);
    let repeats = Measurement::count("repeats", again.times).at_least(MIN_ROUNDS as f64);
    let often =
        Often::of(&REPEATS, again.times, again.per_s, &facts.work).per_second_from(facts, ROUNDS_PER_S);
    // Without a clock it is what decides.
    let part = guards::share_of_calls(facts, again.calls).value.filter(|_| again.per_s.is_none());
    let part = part.map(|part| Measurement::share("share_of_calls", part).at_least(CALL_SHARE));
    let bytes = again.bytes_each.map(|_| Measurement::bytes("bytes", file.rounds.same_bytes));
    // A server of files opens for each request what it sends.
    let serves = again.times as f64 <= SERVED * facts.work.requests as f64;
    out.report(
        share,
        format!(
            "{} opened, read and closed {repeats} times more{}{}",
            file.path,
            often.in_brackets(),
            again.what_each(),
        ),
    )
    // Whether the rounds brought the same is not known where their reads were only counted: what they brought on average, of a file
    // that is not written, is a sign.
    .at_most(match (again.bytes_each, again.mean_bytes) {
        _ if serves => Severity::Notice,
        (Some(_), _) => Severity::Critical,
        (None, Some(_)) => Severity::Warning,
        // So often that the rounds alone are a good part of a CPU.
        (None, None) if again.per_s.is_some_and(|rate| rate >= COSTLY_PER_S) => Severity::Warning,
        (None, None) => Severity::Notice,
    })
    .subject(Subject { path: Some(file.path.to_string()), ..Subjects::thread(facts, file.tid) })
    .cause(format!(
        "The program does not keep what it read{}, so each use pays an open, the reads and a close again, and what is done \
         with the content.{}",
        bytes.as_ref().map_or(String::new(), |bytes| format!(", {bytes} in all")),
        again.bytes_each.map_or("", |_| " The length was the same each time, so the content most likely was too."),
    ))
    .measured(repeats)
    .measured_all(often.figures())
    .measured_all(part)
    .measured_all(again.bytes_each())
    .measured_all(again.mean_bytes())
    .measured_all(bytes)
    .fix("code: read it once and keep the content; reload when inotify or a stat at most once a second shows a new time or size")
    .fix("code: or keep the descriptor open and pread(fd, buf, n, 0)")
    .fix("servers: nginx open_file_cache max=1000 inactive=60s; PHP opcache.enable=1; template engines: switch auto-reload off in production (Jinja2 auto_reload=False, Django cached.Loader)")
    .verify(format!("opensnoop -p PID -n {}   (bcc; or: strace -f -e trace=openat -P '{}' -p PID)", Subjects::thread(facts, file.tid).comm.unwrap_or_else(|| "NAME".to_string()), file.path))
    .saving(again.time)
    .evidence_all(file.exemplars.iter())
    .evidence_all(file.reads.iter().flat_map(|io| io.exemplars.first.as_deref()))
    .file();
}
