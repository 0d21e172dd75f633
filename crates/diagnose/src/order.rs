//! The order of findings: sources that contradict each other first, because a cause may rest on the wrong one; then causes, each
//! followed by its consequences; findings about the capture last.
//!
//! What refuses work comes before what slows it: work that is not done is worse than work that is done late.
//! Causes rank by severity, then by what mending them would save of the asker's time, weighed by how often their rule is right. What the host takes
//! (a queue for its CPUs, a quota, stolen time) comes behind what the program does with the rest, where that is much: a queue
//! is as long as the work that is queued, and the program's own work is what its owner can change.

use crate::asker::Asker;
use crate::explains;
use std::cmp::Ordering;
use whyslow_model::{Finding, Severity, ShareWhole};
use whyslow_rules::guards::{CRITICAL_SHARE, WARNING_SHARE};

/// Work is refused: a connection, a descriptor, a port, the life of a process.
const REFUSES: &[&str] = &[
    "accept-queue-overflow",
    "connect-failing",
    "ephemeral-port-exhaustion",
    "fd-exhaustion",
    "oom-restart-loop",
];
/// What the host takes from a program.
pub(crate) const TAKEN_BY_HOST: &[&str] = &["cpu-throttled", "run-queue-delay", "steal-time"];
/// The same, where no rule claims it.
const QUEUED: &str = "waits-for-cpu";
/// From this part on of the time that the host leaves, a finding about the program comes before what the host takes: twice what is
/// worth a warning, because the queue ends with the load of others, and the program's own cost stays.
const OWN_PART: f64 = 0.10;

/// What the host takes is a warning from this part on of the largest other row of the account: where one thing takes more than twice
/// the time, ending the queue changes less than the half of it.
const SMALL_BESIDE: f64 = 0.5;

/// A notice about waits of less of the asker's time than this is told behind what only says where most of it went, if that is more. Many
/// quick calls cost more than the time in them.
const SMALL_NOTICE: f64 = 0.02;
/// Findings about waits alone.
const OF_WAITS: &[&str] = &[
    "slow-file-io",
    "slow-downstream",
    "wait-chain",
    "journal-commit-stall",
    "lock-contention",
    "lock-convoy",
];

/// Ranks findings, and marks those that follow from others.
pub(crate) fn rank(findings: &mut Vec<Finding>, asker: Asker<'_>) {
    for finding in findings.iter_mut().filter(|finding| TAKEN_BY_HOST.contains(&finding.id)) {
        let share = asker.share(finding);
        let is_small = share < SMALL_BESIDE * asker.largest();
        let severity = if is_small { Severity::Notice } else { severity_of(share) };
        finding.severity = finding.severity.min(severity);
    }
    explains::mark(findings, asker);
    let keys: Vec<Key> = (0..findings.len()).map(|at| key(findings, at, asker)).collect();
    let mut order: Vec<usize> = (0..findings.len()).collect();
    order.sort_by(|a, b| keys[*a].cmp(&keys[*b]).then_with(|| findings[*a].id.cmp(findings[*b].id)));
    let is_hosts = |at: &usize| is_taken(keys[*at].family);
    let taken = Taken::of(findings, asker);
    let is_own = |at: &usize| taken.as_ref().is_some_and(|taken| taken.is_beside(&keys[*at]));
    let order = match order.iter().rposition(is_own) {
        None => order,
        // What the host takes moves behind the last of what is the program's own.
        Some(last) => {
            let (before, behind) = order.split_at(last + 1);
            let own = before.iter().filter(|at| !is_hosts(at));
            own.chain(before.iter().filter(|at| is_hosts(at))).chain(behind).copied().collect()
        }
    };
    let mut unranked: Vec<Option<Finding>> = std::mem::take(findings).into_iter().map(Some).collect();
    findings.extend(order.into_iter().filter_map(|at| unranked[at].take()));
    unseen_first(findings);
}

/// Where nothing serious is known of the threads that are shown, the first thing to say is that others are not: what these wait for may be
/// those.
fn unseen_first(findings: &mut [Finding]) {
    let serious = findings.iter().any(|one| one.severity >= Severity::Warning);
    let from = findings.iter().take_while(|one| one.disagreement).count();
    if let Some(at) = findings.iter().position(|one| one.id == "threads-missed").filter(|_| !serious)
        && at > from
    {
        findings[from..=at].rotate_right(1);
    }
}

/// True for what the host takes, whether a rule claims it or not.
fn is_taken(id: &str) -> bool {
    TAKEN_BY_HOST.contains(&id) || id == QUEUED
}

/// What the host takes in all.
struct Taken {
    worst: Severity,
    most: f64,
}

impl Taken {
    fn of(findings: &[Finding], asker: Asker<'_>) -> Option<Taken> {
        let taken = || findings.iter().filter(|one| is_taken(one.id));
        let worst = taken().map(|one| one.severity).max()?;
        Some(Taken { worst, most: taken().map(|one| asker.share(one)).fold(0.0, f64::max) })
    }

    /// True for what the program does itself, where that is a good part of the time that the host leaves.
    fn is_beside(&self, key: &Key) -> bool {
        let weighs = key.severity > Severity::Capture && key.severity >= self.worst.min(Severity::Warning);
        // What no rule explains, a wait or computing, is nothing to change first where the host takes more.
        let is_work = !whyslow_rules::is_general(key.family);
        let least = if is_work { OWN_PART * (1.0 - self.most) } else { self.most };
        weighs && !is_taken(key.family) && key.share >= least
    }
}

/// Where a finding stands: smaller comes first.
struct Key {
    is_disagreement: bool,
    /// It refuses work, and that is a warning at least.
    refuses: bool,
    severity: Severity,
    share: f64,
    weight: f64,
    /// It only says where time went, or is a notice about next to none of it: of the same severity, what names a cause comes first.
    is_general: bool,
    /// The cause's id for itself and its consequences, that they stay together.
    family: &'static str,
    is_consequence: bool,
}

impl Key {
    fn cmp(&self, other: &Key) -> Ordering {
        (other.is_disagreement.cmp(&self.is_disagreement))
            .then(other.refuses.cmp(&self.refuses))
            .then(other.severity.cmp(&self.severity))
            .then(self.is_general.cmp(&other.is_general))
            .then(other.weight.total_cmp(&self.weight))
            .then_with(|| self.family.cmp(other.family))
            .then(self.is_consequence.cmp(&other.is_consequence))
    }
}

/// A consequence stands where its cause does; a cause whose time is not known, where the worst that it explains would.
fn key(findings: &[Finding], at: usize, asker: Asker<'_>) -> Key {
    let one = &findings[at];
    let cause_of = |finding: &Finding| finding.follows_from.map(|from| from.id);
    let family = cause_of(one).unwrap_or(one.id);
    let causes = || findings.iter().filter(|other| other.id == family && other.follows_from.is_none());
    let consequences = || findings.iter().filter(|other| cause_of(other) == Some(family));
    let is_known = |finding: &Finding| finding.share.is_some() && finding.share_whole != ShareWhole::Calls;
    let members: Vec<&Finding> = match one.follows_from {
        None if is_known(one) || consequences().next().is_none() => vec![one],
        _ if causes().any(is_known) => causes().collect(),
        _ => causes().chain(consequences()).collect(),
    };
    let most = |value: &dyn Fn(&Finding) -> f64| members.iter().map(|one| value(one)).fold(0.0, f64::max);
    let severity = members.iter().map(|one| one.severity).max().unwrap_or(one.severity);
    let share = most(&|finding| asker.share(finding));
    let is_wait = |one: &&Finding| OF_WAITS.contains(&one.id) && is_known(one);
    // A notice that it computes names no cause, where another one does.
    let is_computing = severity == Severity::Notice && one.id == "cpu-bound";
    let is_small = severity == Severity::Notice && members.iter().all(is_wait) && share < SMALL_NOTICE;
    Key {
        is_disagreement: one.disagreement,
        refuses: severity >= Severity::Warning && REFUSES.contains(&family),
        severity,
        share,
        weight: most(&|finding| asker.weight(finding)),
        is_general: is_small || is_computing || one.is_hygiene() || whyslow_rules::is_general(one.id),
        family,
        is_consequence: one.follows_from.is_some(),
    }
}

/// What the part of the asker's time alone makes of it (guard 1).
fn severity_of(share: f64) -> Severity {
    match share {
        CRITICAL_SHARE.. => Severity::Critical,
        WARNING_SHARE.. => Severity::Warning,
        _ => Severity::Notice,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{account, finding, row};
    use whyslow_facts::Facts;
    use whyslow_model::{TimeAccount, TimeState};

    /// The ids in their order, with the severities.
    fn ranked(mut findings: Vec<Finding>, account: Option<&TimeAccount>) -> Vec<(&'static str, Severity)> {
        rank(&mut findings, Asker { facts: &Facts::default(), account });
        findings.iter().map(|finding| (finding.id, finding.severity)).collect()
    }

    fn critical(id: &'static str, share: f64) -> Finding {
        Finding { severity: Severity::Critical, ..finding(id, None, Some(share)) }
    }

    #[test]
    fn what_the_host_takes_comes_behind_what_the_program_does_with_a_good_part_of_the_rest() {
        let order = |own: f64| {
            let findings = vec![critical("run-queue-delay", 0.6), finding("small-reads", None, Some(own))];
            ranked(findings, None).iter().map(|(id, _)| *id).collect::<Vec<_>>()
        };
        assert_eq!(order(0.05), ["small-reads", "run-queue-delay"]);
        assert_eq!(order(0.03), ["run-queue-delay", "small-reads"]);
    }

    #[test]
    fn what_a_program_computes_comes_before_what_it_waits_for_a_cpu() {
        let notice = |id, share| Finding { severity: Severity::Notice, ..finding(id, None, Some(share)) };
        let first = |own| ranked(vec![notice("waits-for-cpu", 0.5), notice("cpu-bound", own)], None)[0].0;
        assert_eq!((first(0.4), first(0.01)), ("cpu-bound", "waits-for-cpu"));
    }

    #[test]
    fn a_wait_that_nobody_explains_comes_before_the_queue_where_it_takes_more() {
        let notice = |id, share| Finding { severity: Severity::Notice, ..finding(id, None, Some(share)) };
        let first =
            |own| ranked(vec![notice("waits-for-cpu", 0.5), notice("waits-for-timer", own)], None)[0].0;
        assert_eq!((first(0.6), first(0.2)), ("waits-for-timer", "waits-for-cpu"));
    }

    #[test]
    fn computing_that_nobody_explains_comes_behind_a_quota_that_takes_more() {
        let notice = |id, share| Finding { severity: Severity::Notice, ..finding(id, None, Some(share)) };
        let first = |own| ranked(vec![notice("cpu-throttled", 0.6), notice("computes", own)], None)[0].0;
        assert_eq!((first(0.2), first(0.7)), ("cpu-throttled", "computes"));
    }

    #[test]
    fn a_small_part_that_the_host_takes_is_a_notice_beside_one_large_thing() {
        let rows = |file| {
            account(vec![row(TimeState::File, None, None, file), row(TimeState::RunQueue, None, None, 300)])
        };
        let severity =
            |file| ranked(vec![finding("run-queue-delay", None, Some(0.3))], Some(&rows(file)))[0].1;
        assert_eq!((severity(700), severity(500)), (Severity::Notice, Severity::Warning));
    }

    #[test]
    fn a_consequence_stands_behind_its_cause_though_it_takes_more() {
        let findings = vec![
            finding("slow-file-io", None, Some(0.9)),
            finding("run-queue-delay", None, Some(0.5)),
            finding("sync-open", None, Some(0.6)),
        ];
        let ids: Vec<_> = ranked(findings, None).into_iter().map(|(id, _)| id).collect();
        assert_eq!(ids, ["sync-open", "slow-file-io", "run-queue-delay"]);
    }

    #[test]
    fn a_cause_of_unknown_cost_weighs_what_it_explains() {
        let findings = vec![
            finding("small-writes", None, Some(0.3)),
            critical("slow-file-io", 0.8),
            finding("sync-open", None, None),
        ];
        let wanted = [
            ("sync-open", Severity::Critical),
            ("slow-file-io", Severity::Critical),
            ("small-writes", Severity::Warning),
        ];
        assert_eq!(ranked(findings, None), wanted);
    }

    #[test]
    fn what_only_says_where_time_went_stands_behind_causes_of_the_same_severity() {
        let notice = |id, share| Finding { severity: Severity::Notice, ..finding(id, None, Some(share)) };
        let findings = vec![
            notice("computes", 0.6),
            notice("clock-syscall", 0.04),
            finding("small-reads", None, Some(0.1)),
        ];
        let ids: Vec<_> = ranked(findings, None).into_iter().map(|(id, _)| id).collect();
        assert_eq!(ids, ["small-reads", "clock-syscall", "computes"]);
        let findings = vec![
            notice("slow-file-io", 0.003),
            notice("waits-for-timer", 0.76),
            Finding { severity: Severity::Notice, ..finding("runs-as-root", None, None) },
        ];
        let ids: Vec<_> = ranked(findings, None).into_iter().map(|(id, _)| id).collect();
        assert_eq!(ids, ["waits-for-timer", "slow-file-io", "runs-as-root"]);
    }

    #[test]
    fn what_refuses_work_comes_before_what_slows_it_where_it_is_a_warning() {
        let first = |severity| {
            let refusal = Finding { severity, ..finding("accept-queue-overflow", None, None) };
            ranked(vec![critical("write-to-dev-null", 0.8), refusal], None)[0].0
        };
        assert_eq!(first(Severity::Warning), "accept-queue-overflow");
        assert_eq!(first(Severity::Notice), "write-to-dev-null");
    }

    #[test]
    fn contradictions_come_first_and_the_capture_last() {
        let capture = Finding { severity: Severity::Capture, ..finding("filter-hides", None, None) };
        let contradiction =
            Finding { disagreement: true, severity: Severity::Capture, ..finding("rates-apart", None, None) };
        let findings = vec![capture, finding("small-reads", None, Some(0.3)), contradiction];
        let ids: Vec<_> = ranked(findings, None).into_iter().map(|(id, _)| id).collect();
        assert_eq!(ids, ["rates-apart", "small-reads", "filter-hides"]);
    }
}
