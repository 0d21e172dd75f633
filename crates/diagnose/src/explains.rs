//! Causes and consequences: where both are found, mending the one takes away the other, and the one is told before the other.

mod looks;
mod pairs;
mod queues;
mod slow_files;

use crate::asker::Asker;
use pairs::{EXPLAINS, Explains};
use queues::OF_QUEUES;
use slow_files::{OF_FILES, OF_ONE_PATH};
use whyslow_model::{Finding, FollowsFrom, Measurement, Severity, ShareWhole, Subject};

/// From this part of the hot function's time on a kind of work is what the function does.
const MOST_OF_FUNCTION: f64 = 0.5;

/// A cause that takes a smaller part of its consequence's time explains little of it: ending it would leave most of the other as it
/// is. Not a half: of one cause a part shows in calls (reading), and the rest in what they lead to (decoding).
const MIN_PART: f64 = 0.15;

/// From this part of what a program computes on, kinds of work that are named are what it does: collectors, compilers at run time and its start
/// take their part of the rest.
const KINDS_PART: f64 = 0.3;

/// All pairs of a cause and what goes with it.
fn all() -> impl Iterator<Item = &'static Explains> {
    EXPLAINS.iter().chain(OF_QUEUES).chain(OF_FILES).chain(OF_ONE_PATH)
}

/// Marks the findings that follow from another one.
pub(crate) fn mark(findings: &mut [Finding], asker: Asker<'_>) {
    let nearest: Vec<Option<usize>> = (0..findings.len())
        .map(|at| {
            let is_cause = |cause: &&Finding| is_cause_of(cause, &findings[at], asker);
            let kinds_are_most = are_most_of(findings, &findings[at], asker);
            let causes = findings.iter().enumerate().filter(|(_, cause)| {
                is_cause(cause) && (kinds_are_most || !is_kind_of_work(cause.id, findings[at].id))
            });
            let heaviest =
                causes.max_by(|a, b| asker.weight(a.1).total_cmp(&asker.weight(b.1)).then(b.0.cmp(&a.0)));
            heaviest.map(|(cause, _)| cause)
        })
        .collect();
    for at in 0..findings.len() {
        // What was said before is over: a finding may have come to weigh more.
        findings[at].follows_from = None;
        let Some(cause) = nearest[at] else { continue };
        let reason = pair(findings[cause].id, findings[at].id).map_or("", |pair| pair.reason);
        // The first of a chain of causes; the relation has no circle.
        let first = std::iter::successors(Some(cause), |cause| nearest[*cause]).last().unwrap_or(cause);
        findings[at].follows_from = Some(FollowsFrom { id: findings[first].id, reason });
        // What takes a time that is not known weighs as much as what it explains.
        let is_queue = is_own_queue(&findings[cause], &findings[at]);
        if is_queue || findings[first].share.is_none() || findings[first].share_whole == ShareWhole::Calls {
            findings[first].severity = findings[first].severity.max(findings[at].severity);
        }
    }
}

/// What is known of two rules.
fn pair(cause: &str, consequence: &str) -> Option<&'static Explains> {
    all().find(|pair| pair.cause == cause && pair.consequences.contains(&consequence))
}

/// True where the one is the kind of work that the other's computing is.
fn is_kind_of_work(cause: &str, consequence: &str) -> bool {
    consequence == "cpu-bound" && pair(cause, consequence).is_some_and(|pair| pair.reason == looks::COMPUTES)
}

/// True where the kinds of work that rules name are a good part of what a program computes: else its own code is, and the hot function comes first.
fn are_most_of(findings: &[Finding], consequence: &Finding, asker: Asker<'_>) -> bool {
    let of_it = |one: &&Finding| {
        is_kind_of_work(one.id, consequence.id) && asker.may_be_one(&one.subject, &consequence.subject)
    };
    let named: f64 = findings.iter().filter(of_it).map(|one| asker.share(one)).sum();
    // A kind that most of the hot function is says more than its name.
    let function = consequence.subject.function.as_deref();
    let part = consequence.measurements.iter().find(|one| one.name == "share_of_samples");
    let of_function = part.and_then(|part| part.value).map(|part| part * asker.share(consequence));
    let is_of_function = |one: &&Finding| function.is_some() && one.subject.function.as_deref() == function;
    let largest = findings.iter().filter(of_it).filter(is_of_function).map(|one| asker.share(one));
    named >= KINDS_PART * asker.share(consequence)
        || of_function.is_some_and(|whole| largest.fold(0.0, f64::max) >= MOST_OF_FUNCTION * whole)
}

fn is_cause_of(cause: &Finding, consequence: &Finding, asker: Asker<'_>) -> bool {
    let Some(pair) = pair(cause.id, consequence.id) else { return false };
    let no_time = |finding: &Finding| finding.share.is_none() || finding.share_whole == ShareWhole::Calls;
    // Where calls are missing, what is known of their time is the least of it.
    let at_least = asker.facts.missing_calls().is_some();
    let is_large = match pair.starts || at_least || no_time(cause) || no_time(consequence) {
        // What takes no time itself, or none that is known, is not compared.
        true => cause.severity >= Severity::Warning,
        false => asker.weight(cause) >= MIN_PART * asker.weight(consequence),
    };
    // A notice that stands before a warning would hide it.
    let weighs = cause.severity >= consequence.severity.min(Severity::Warning);
    (is_large && weighs || is_own_queue(cause, consequence))
        && cause.severity > Severity::Capture
        && asker.may_be_one(&cause.subject, &consequence.subject)
        && (!is_of_one_path(pair) || may_be_one_path(&cause.subject, &consequence.subject))
}

/// True where the threads that wait for a CPU wait for each other: that there are so many is what is slow, however sure it is by itself.
fn is_own_queue(cause: &Finding, consequence: &Finding) -> bool {
    let of_own = |one: &Measurement| one.name == "share_of_wait_for_own";
    cause.id == "too-many-threads" && consequence.measurements.iter().any(of_own)
}

fn is_of_one_path(pair: &Explains) -> bool {
    OF_ONE_PATH.iter().any(|one| std::ptr::eq(one, pair))
}

/// True where nothing tells that two findings are about different paths. `DIR/*` stands for all files of a directory.
fn may_be_one_path(a: &Subject, b: &Subject) -> bool {
    let (Some(a), Some(b)) = (a.path.as_deref(), b.path.as_deref()) else { return true };
    let holds = |all: &str, one: &str| {
        let directory = all.strip_suffix("/*");
        directory.is_some_and(|directory| one.rsplit_once('/').is_some_and(|(parent, _)| parent == directory))
    };
    a == b || holds(a, b) || holds(b, a)
}

#[cfg(test)]
mod tests;
