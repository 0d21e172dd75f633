//! # tz-stat-storm
//!
//! ## What it is
//! A thread asks for `/etc/localtime` again and again: hundreds of times a second, always with the same answer.
//!
//! ## Why it is slow
//! Without `TZ` in the environment, glibc's `localtime`, `mktime` and `strftime` (through `tzset`) check for each
//! call whether the zone file has changed. A program that formats a time for each record pays a system call a
//! record; in one such program 200,135 of 200,836 calls were this one, against 523 writes of real work.
//!
//! ## Example
//! ```text
//! stat("/etc/localtime", {st_mode=S_IFREG|0644, st_size=405, ...}) = 0
//! ```
//!
//! ## What to do instead
//! Set `TZ=:/etc/localtime`: glibc then reads the file once. Or call `tzset()` once and use `localtime_r`, which
//! need not check. Or format the second once and keep the text for the records of that second.
//!
//! ## When it is wrong
//! A program that must notice a change of the zone while it runs needs the checks: with `TZ` set it sees the
//! change only after a restart. A few at start-up (`ls`, cron) are normal and stay below the threshold.

use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::guards;
use crate::guards::Share;
use crate::often::{CALLS, Often};
use whyslow_facts::Facts;
use whyslow_facts::folds::work::Work;
use whyslow_facts::world::is_stat_family;
use whyslow_model::{Measurement, SaturatingSum, Severity, Subject, Syscall};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "tz-stat-storm",
    group: "files",
    summary: "the time zone file is checked again for every time that is formatted",
    source: include_str!("tz_stat_storm.rs"),
    needs: &[Need::Calls],
    check,
};

/// The file that glibc checks (`tzfile.c`, `TZDEFAULT`).
const ZONE_FILE: &str = "/etc/localtime";
/// Checks a second from which on it is a storm: a program that logs a few lines a second stays below.
const STORM_PER_S: f64 = 100.0;
/// Without a clock: the part of all calls from which on it is a storm.
const STORM_CALL_SHARE: f64 = 0.3;
/// Of the calls of an excerpt, the part from which on it was made to show the checks.
const NEARLY_ALL: f64 = 0.9;
/// Fewer checks than this are start-up.
const MIN_CHECKS: u64 = 5;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let Some(file) = facts.world.files.find(ZONE_FILE) else {
        return;
    };
    let checks = file.stats;
    if checks < MIN_CHECKS {
        return;
    }
    let share = guards::share_of_storm(
        facts,
        Some(file.tid).filter(|_| !file.shared),
        file.path_calls.total(),
        checks,
    );
    let rate = facts.window.per_second(checks);
    let storm = match facts.pace.untraced(rate) {
        Some(rate) => rate >= STORM_PER_S && checks >= guards::FEW_CALLS,
        None => guards::share_of_calls(facts, checks).value.is_some_and(|share| share >= STORM_CALL_SHARE),
    };
    if !storm {
        return;
    }
    let beside = counted_beside(facts, checks);
    let many = checks >= guards::FEW_CALLS || beside.is_some();
    let often = Often::of(&CALLS, checks, rate, &facts.work).per_second_from(facts, STORM_PER_S);
    let least = if rate.is_some() { guards::FEW_CALLS } else { MIN_CHECKS };
    let count = Measurement::count("calls", checks).at_least(least as f64);
    // Without a clock it is what decides.
    let part = guards::share_of_calls(facts, checks).value.filter(|_| rate.is_none());
    let part = part.map(|part| Measurement::share("share_of_calls", part).at_least(STORM_CALL_SHARE));
    let title = match &beside {
        Some(counted) => format!("{ZONE_FILE} is checked by each call shown, and {}", counted.text),
        None => format!("{ZONE_FILE} is checked {count} times{}", often.behind_comma()),
    };
    let figures: Vec<Measurement> = match &beside {
        Some(counted) => counted.figures.clone(),
        None => [count].into_iter().chain(often.figures()).chain(part).collect(),
    };
    let share = beside.as_ref().map_or(share, |counted| counted.share.clone());
    let mut found = out.report(share, title)
        .measured_all(figures)
        .subject(Subject { path: Some(ZONE_FILE.to_string()), syscall: Some("stat".to_string()), ..Subjects::thread(facts, file.tid) })
        .cause(
            "TZ is not set, so glibc looks whether the zone file has changed each time a local time is made \
             (strftime, localtime, mktime). The answer was the same every time.",
        )
        .fix("shell: export TZ=:/etc/localtime before the program starts")
        .fix("systemd: Environment=TZ=:/etc/localtime in the unit; Dockerfile: ENV TZ=:/etc/localtime; Kubernetes: env name TZ, value :/etc/localtime")
        .fix("code: tzset() once, then localtime_r; or format a second once and keep the text")
        .fix("mind: with TZ set, a later change of the zone is seen only after a restart")
        .verify("strace -f -c -e trace=%stat -p PID   (before and after: the count falls to almost none)")
        .saving(file.path_calls.total())
        // An excerpt shows the smell, not how often it happens.
        .confidence(match beside {
            Some(_) => 0.85,
            None if many => 0.95,
            None => 0.6,
        })
        .at_most(if many { Severity::Critical } else { Severity::Warning })
        .evidence_all(file.exemplars.iter());
    if let Some(Counted { place, line, .. }) = beside {
        found = found.evidence_line(place, line);
    }
    found.file();
}

/// What a table (`strace -c`) says of the calls that an excerpt shows.
struct Counted {
    text: String,
    figures: Vec<Measurement>,
    share: Share,
    place: String,
    line: String,
}

/// An excerpt of these checks alone shows the path, and a table beside it how often: the two are of one program.
#[gated]
fn counted_beside(facts: &Facts, checks: u64) -> Option<Counted> {
    let calls =
        facts.tables_beside_excerpt().filter(|_| checks as f64 >= NEARLY_ALL * facts.world.calls as f64)?;
    let asks = |name: &str| Syscall::lookup(name.as_bytes()).is_some_and(is_stat_family);
    let (name, stats) = calls.iter().filter(|(name, _)| asks(name)).max_by_key(|(_, stats)| stats.count)?;
    let all = calls.iter().map(|(_, stats)| stats.count).saturating_sum();
    let part = stats.count as f64 / all.max(1) as f64;
    if stats.count < guards::FEW_CALLS || part < STORM_CALL_SHARE {
        return None;
    }
    let often = Often::of(&CALLS, stats.count, None, &Work::of_counts(&calls));
    let count = Measurement::count("calls", stats.count).at_least(guards::FEW_CALLS as f64);
    let part_of_calls = Measurement::share("share_of_calls", part).at_least(STORM_CALL_SHARE);
    let (place, line) = facts.table_line(name)?;
    Some(Counted {
        text: format!("{count} {name} were counted: {:.2} % of calls{}", part * 100.0, often.behind_comma()),
        figures: [count, part_of_calls].into_iter().chain(often.figures()).collect(),
        share: Share::of_calls(part),
        place,
        line: line.to_string(),
    })
}
