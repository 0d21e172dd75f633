//! The verdict: the first sentence of a report. About a program that was asked about the cause comes first, and the host behind it
//! where that is full.

mod culprit;

use whyslow_facts::Facts;
use whyslow_facts::folds::requests::Side;
use whyslow_model::figures as words;
use whyslow_model::{CallStats, Finding, Severity, TimeAccount, Walk};

/// The sentence: what the host is short of, the cause, and whether the sources agree. Of one process that was asked about
/// the cause comes first.
pub(crate) fn verdict(
    facts: &Facts,
    findings: &[Finding],
    walk: Option<&Walk>,
    account: Option<&TimeAccount>,
) -> String {
    let sentence = || sentence(facts, findings, account);
    let host = walk.and_then(|walk| Some((walk, whyslow_hostcheck::verdict(walk)?)));
    let cause = findings.iter().find(|finding| finding.severity >= Severity::Warning);
    let asked = whyslow_hostcheck::is_about_one(facts);
    let mut told = match (host, cause) {
        (None, None) if facts.total_calls() == 0 && walk.is_some() => {
            walk.map_or(String::new(), whyslow_hostcheck::without_resources)
        }
        (None, _) => sentence(),
        // A finding about the resource says the same.
        (Some(_), Some(cause)) if cause.subject.device.is_some() || cause.subject.host.is_some() => {
            sentence()
        }
        (Some((walk, host)), Some(_)) if asked => {
            format!("{}{}", sentence(), where_full(walk, &host))
        }
        (Some((_, host)), Some(_)) => format!("{host}; {}", sentence()),
        (Some((walk, host)), None) => match unexplained(findings).filter(|_| asked) {
            Some(most) => {
                let notice = notice(facts, findings, account);
                format!("{most}. No rule names a cause.{notice}{}", where_full(walk, &host))
            }
            None if whyslow_hostcheck::is_full(walk) => format!("{host}."),
            None => format!("{host}. {}", walk.next),
        },
    };
    if let Some(first) = findings.iter().find(|finding| finding.disagreement) {
        told.push_str(&format!(" The sources disagree: {}.", first.title.trim_end_matches('.')));
    }
    told
}

fn sentence(facts: &Facts, findings: &[Finding], account: Option<&TimeAccount>) -> String {
    let causes = findings.iter().filter(|finding| finding.severity >= Severity::Warning);
    let mut causes = causes.filter(|finding| finding.follows_from.is_none());
    let Some(first) = causes.next() else {
        if facts.total_calls() == 0 {
            if facts.requests.of_logs().count > 0 {
                return of_log(facts);
            }
            if !facts.percentiles.is_empty() {
                return "A table of percentiles tells how long, not why: compare two with whyslow diff."
                    .to_string();
            }
            if let Some(told) = of_profiles(facts) {
                return told;
            }
            return match facts.world.snapshot_rows {
                0 => "The input holds no calls: nothing to judge.".to_string(),
                rows => {
                    format!("{} and no calls: nothing shows time.", words::plural(rows, "open descriptor"))
                }
            };
        }
        let notice = notice(facts, findings, account);
        // What the capture lacks may well be the cause: saying only "none" would be a wrong answer.
        let gap =
            findings.iter().find(|finding| finding.severity == Severity::Capture && !finding.disagreement);
        let mind = gap.map_or(String::new(), |gap| format!(" But {}.", gap.title.trim_end_matches('.')));
        let computes = findings.iter().find(|finding| finding.id == "cpu-bound");
        let computes = computes.map_or(String::new(), |found| format!(" But {}.", found.title));
        let counts = match facts.world.calls == 0 && facts.world.counted > 0 {
            true => {
                " But they were only counted, and most causes show in single calls: record with --mode full."
            }
            false => "",
        };
        let most = unexplained(findings).map_or(String::new(), |most| format!("{most}. "));
        return format!(
            "{most}No cause of slowness in {}.{notice}{computes}{counts}{mind}",
            words::plural(facts.total_calls(), "system call"),
        );
    };
    named(facts, first, account)
}

/// The first notice that costs something, where nothing is worth a warning: it may be all that there is.
fn notice(facts: &Facts, findings: &[Finding], account: Option<&TimeAccount>) -> String {
    let is_notice = |finding: &&Finding| finding.severity == Severity::Notice && !is_general(finding);
    // That it computes is said by itself.
    let costs = |finding: &&Finding| finding.share.is_some() && finding.id != "cpu-bound";
    let first = findings.iter().filter(is_notice).find(costs);
    first.map_or(String::new(), |first| format!(" Largest notice: {}", named(facts, first, account)))
}

/// A finding as a sentence: whose it is, what, and of which file, peer, function or holder.
fn named(facts: &Facts, finding: &Finding, account: Option<&TimeAccount>) -> String {
    let title = finding.title.trim_end_matches('.');
    format!("{}{title}{}.", who(facts, finding), culprit::beside(facts, account, finding))
}

/// Of which program it is, where the title does not tell.
fn who(facts: &Facts, finding: &Finding) -> String {
    let threads = &facts.world.threads;
    let process = match (finding.subject.pid, threads.processes().next()) {
        (Some(pid), _) => threads.find_process(pid).and_then(|process| threads.known_process(process)),
        (None, Some((_, process))) if threads.processes().count() == 1 => Some(process),
        (None, _) => None,
    };
    let Some((name, pid)) = process.and_then(|process| Some((process.name()?, process.pid?))) else {
        return String::new();
    };
    if finding.title.contains(name) { String::new() } else { format!("{name} (pid {pid}): ") }
}

/// What is told of the host behind a sentence about one program: where it has room, its own section is enough.
fn where_full(walk: &Walk, host: &str) -> String {
    if whyslow_hostcheck::is_full(walk) { format!(" {host}.") } else { String::new() }
}

/// What most of the time went into, where no rule tells a cause.
fn unexplained(findings: &[Finding]) -> Option<&str> {
    // That it did nothing else all the while is more than where most time went.
    let stuck = findings.iter().find(|finding| finding.id == "stuck-call");
    let most = stuck.or_else(|| findings.iter().find(|finding| is_general(finding)))?;
    Some(most.title.trim_end_matches('.'))
}

/// True for what only says where time went.
fn is_general(finding: &Finding) -> bool {
    whyslow_rules::find(finding.id).is_some_and(|rule| rule.unclaimed_states().is_some())
}

/// What profiles by themselves tell; of several the first.
fn of_profiles(facts: &Facts) -> Option<String> {
    let profiles = facts.profiles.all();
    let Some(first) = profiles.first() else {
        let broken = facts.profiles.empty().first()?;
        return Some(format!("{} tells nothing: {}.", broken.name, broken.what.trim_end_matches('.')));
    };
    let told = whyslow_profile::kinds::sentence(&first.step.account, &first.step.measured);
    Some(match profiles.len() {
        1 => told,
        count => format!(
            "{}: {} ({} in all: whyslow diff compares them.)",
            facts.profiled(first),
            told,
            words::plural(count as u64, "profile")
        ),
    })
}

/// What an access log by itself tells: who takes the time, not why.
fn of_log(facts: &Facts) -> String {
    let served = || facts.requests.endpoints().iter().filter(|row| row.side == Side::Server);
    let sum = |of: fn(&CallStats) -> u64| served().map(|row| of(&row.stats)).fold(0, u64::saturating_add);
    let (count, errors, all_ns) =
        (sum(|stats| stats.count), sum(|stats| stats.errors), sum(|stats| stats.total_ns));
    let requests = format!("{} logged, {} failed", words::plural(count, "request"), words::count(errors));
    match served().max_by_key(|row| row.stats.total_ns).filter(|_| all_ns > 0) {
        Some(row) => format!(
            "{requests}. {} takes {} of their time: {}, p50 {}, max {}. A log tells how long and not why: \
             record the server meanwhile.",
            row.name,
            words::percent(row.stats.total_ns as f64 / all_ns as f64),
            words::plural(row.stats.timed, "request"),
            words::duration(row.stats.percentile(0.5)),
            words::duration(row.stats.max()),
        ),
        None => format!("{requests}. The log tells no durations: nothing shows time."),
    }
}
