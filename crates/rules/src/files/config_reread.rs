//! # config-reread
//!
//! ## What it is
//! A file of settings (resolv.conf, nsswitch.conf, hosts, the program's own .yaml or .properties) is read again
//! for each request or each item of work.
//!
//! ## Why it is slow
//! Reading costs a few calls, parsing costs more: a YAML file of 10 kB takes milliseconds. /etc/hosts is read by
//! glibc for each name that is looked up, so reading it often also tells that names are looked up too often.
//!
//! ## Example
//! ```text
//! openat(AT_FDCWD, "/etc/hosts", O_RDONLY|O_CLOEXEC) = 9
//! read(9, "127.0.0.1\tlocalhost\n"..., 4096) = 220
//! close(9) = 0
//! ```
//!
//! ## What to do instead
//! Read settings once and again on SIGHUP (or when inotify tells). For hosts, resolv.conf, passwd: keep connections
//! open instead of looking the name up for each, or let nscd, systemd-resolved or sssd answer from memory.
//!
//! ## When it is wrong
//! A few reads at the start (each library reads its own) and reloads on a signal stay below the threshold.

use super::rounds::Reopened;
use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::often::{Often, REPEATS};
use whyslow_facts::{Facts, names};
use whyslow_model::{Measurement, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "config-reread",
    group: "files",
    summary: "a file of settings is read again for each item of work",
    source: include_str!("config_reread.rs"),
    needs: &[Need::Either(&[Need::AnyOf(&["open", "openat", "openat2"]), Need::Table("files")])],
    check,
};

/// Equal rounds from which on it is a habit and no start-up or reload.
const MIN_ROUNDS: u64 = 20;
/// Equal rounds a second from which on it is no poller.
const ROUNDS_PER_S: f64 = 5.0;
/// Equal rounds per request from which on they are part of its path.
const ROUNDS_PER_REQUEST: f64 = 0.5;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let files = facts.world.files.iter().filter(|(_, file)| names::is_configuration(&file.path));
    let mut reread: Vec<Reopened<'_>> = files
        .map(|(id, file)| Reopened::of(facts, id, file))
        .filter(|again| is_habit(facts, again))
        .collect();
    if reread.is_empty() {
        return;
    }
    reread.sort_by_key(|again| std::cmp::Reverse((again.time.or_zero(), again.times)));
    reread.iter().for_each(|again| report(facts, out, again));
}

#[gated]
fn is_habit(facts: &Facts, again: &Reopened<'_>) -> bool {
    let requests = facts.work.requests;
    let per_request = requests > 0 && again.times as f64 >= ROUNDS_PER_REQUEST * requests as f64;
    let rate = facts.pace.untraced(again.per_s);
    again.times >= MIN_ROUNDS && (per_request || rate.is_none_or(|rate| rate >= ROUNDS_PER_S))
}

fn report(facts: &Facts, out: &mut Findings<'_>, again: &Reopened<'_>) {
    let file = again.file;
    let share = again.share(facts);
    let repeats = Measurement::count("repeats", again.times).at_least(MIN_ROUNDS as f64);
    let often = Often::of(&REPEATS, again.times, again.per_s, &facts.work)
        .per_second_from(facts, ROUNDS_PER_S)
        .per_work_from("request", ROUNDS_PER_REQUEST);
    let lookup = names::is_lookup_file(&file.path);
    let cause = if lookup {
        "The C library reads this file anew for each name, user or service that it looks up, so something is looked up for each item of work."
    } else {
        "The settings are read and parsed anew for each item of work; parsing costs more than the calls."
    };
    let length = if again.bytes_each.is_some() { " Its length did not change meanwhile." } else { "" };
    let report = out
        .report(
            share,
            format!("{} read {repeats} times more{}{}", file.path, often.in_brackets(), again.what_each(),),
        )
        .measured(repeats)
        .measured_all(often.figures())
        .measured_all(again.bytes_each())
        .measured_all(again.mean_bytes())
        .subject(Subject { path: Some(file.path.to_string()), ..Subjects::thread(facts, file.tid) })
        .cause(format!("{cause}{length}"));
    let report = if lookup {
        report
            .fix("keep connections open (pool, HTTP keep-alive) instead of looking the host up for each; look users and services up once and keep the answer")
            .fix("let a cache answer: systemctl enable --now nscd (or systemd-resolved, sssd); nscd -g shows its hits")
    } else {
        report
            .fix("code: read it once at the start; read it again on SIGHUP or when inotify tells of a change")
            .fix("frameworks: switch reloading off in production (Spring: no @RefreshScope per request; Flask and Django: debug off; PHP: cache the parsed array with opcache or APCu)")
    };
    report
        .verify(format!("strace -f -e trace=openat -P '{}' -p PID   (or bcc: opensnoop -p PID)", file.path))
        .saving(again.time)
        .evidence_all(file.exemplars.iter())
        .file();
}
