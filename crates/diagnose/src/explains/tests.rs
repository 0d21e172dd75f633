//! The relation holds of rules, has no circle, and follows shares, processes and severities.

use super::*;
use crate::fixture;
use whyslow_facts::Facts;

fn finding(id: &'static str, pid: Option<u32>, share: f64) -> Finding {
    fixture::finding(id, pid, Some(share))
}

#[test]
fn every_pair_is_of_two_rules_and_no_rule_explains_itself() {
    for pair in all() {
        assert!(whyslow_rules::find(pair.cause).is_some(), "{}", pair.cause);
        assert!(!pair.reason.is_empty() && !pair.consequences.is_empty());
        for consequence in pair.consequences {
            assert!(whyslow_rules::find(consequence).is_some(), "{consequence}");
        }
        let mut above = vec![pair.cause];
        let mut todo = vec![pair.cause];
        while let Some(cause) = todo.pop() {
            for next in all().filter(|next| next.cause == cause).flat_map(|next| next.consequences) {
                assert_ne!(*next, pair.cause, "{} explains itself", pair.cause);
                if !above.contains(next) {
                    above.push(next);
                    todo.push(next);
                }
            }
        }
    }
}

/// Each pair: it follows within one process, where the cause takes a good part; not elsewhere, not of a small cause, not alone.
#[test]
fn a_consequence_follows_from_a_cause_that_is_large_enough_in_the_same_process() {
    let facts = Facts::default();
    let asker = Asker { facts: &facts, account: None };
    for pair in all() {
        for consequence in pair.consequences {
            let follows = |cause_pid, share| {
                let mut both = [finding(consequence, Some(1), 0.8), finding(pair.cause, cause_pid, share)];
                mark(&mut both, asker);
                assert_eq!(both[1].follows_from, None);
                both[0].follows_from.map(|from| from.id)
            };
            assert_eq!(follows(Some(1), 0.6), Some(pair.cause));
            assert_eq!(follows(None, 0.6), Some(pair.cause));
            assert_eq!(follows(Some(2), 0.6), None);
            assert_eq!(follows(Some(1), 0.01), pair.starts.then_some(pair.cause));
            let mut alone = [finding(consequence, Some(1), 0.8)];
            mark(&mut alone, asker);
            assert_eq!(alone[0].follows_from, None);
        }
    }
}

#[test]
fn what_has_come_to_weigh_more_follows_from_a_notice_no_longer() {
    let facts = Facts::default();
    let asker = Asker { facts: &facts, account: None };
    let mut both = [finding("slow-downstream", Some(1), 0.8), finding("pool-exhausted", Some(1), 0.2)];
    both.iter_mut().for_each(|one| one.severity = Severity::Notice);
    mark(&mut both, asker);
    assert_eq!(both[0].follows_from.map(|from| from.id), Some("pool-exhausted"));
    both[0].severity = Severity::Warning;
    mark(&mut both, asker);
    assert_eq!(both[0].follows_from, None);
}

#[test]
fn kinds_of_work_come_before_computing_where_they_are_a_third_of_it() {
    let first = |text, regex| {
        let mut all = [
            finding("cpu-bound", Some(1), 0.9),
            finding("text-parsing", Some(1), text),
            finding("regex-backtracking", Some(1), regex),
        ];
        mark(&mut all, Asker { facts: &Facts::default(), account: None });
        all[0].follows_from.map(|from| from.id)
    };
    assert_eq!(first(0.6, 0.0), Some("text-parsing"));
    assert_eq!(first(0.2, 0.35), Some("regex-backtracking"));
    // The program's own code has most.
    assert_eq!(first(0.12, 0.12), None);
}

#[test]
fn a_notice_is_no_cause_of_a_warning() {
    let follows = |severity| {
        let consequence = Finding { severity, ..finding("slow-file-io", None, 0.8) };
        let cause = Finding { severity: Severity::Notice, ..finding("sync-open", None, 0.6) };
        let mut both = [consequence, cause];
        mark(&mut both, Asker { facts: &Facts::default(), account: None });
        both[0].follows_from.is_some()
    };
    assert_eq!((follows(Severity::Warning), follows(Severity::Notice)), (false, true));
}

#[test]
fn of_a_chain_of_causes_the_first_is_told() {
    let mut chain = [
        finding("cpu-bound", None, 0.9),
        finding("gc-pressure", None, 0.5),
        finding("file-reread", None, 0.6),
    ];
    mark(&mut chain, Asker { facts: &Facts::default(), account: None });
    let told: Vec<_> = chain.iter().map(|finding| finding.follows_from.map(|from| from.id)).collect();
    assert_eq!(told, [Some("file-reread"), Some("file-reread"), None]);
}

#[test]
fn polling_explains_repeated_stats_of_the_path_that_it_polls_only() {
    let follows = |polled, asked| {
        let of = |id, path: &str| {
            let mut finding = finding(id, Some(1), 0.6);
            finding.subject.path = Some(path.to_string());
            finding
        };
        let mut both = [of("repeated-stat", asked), of("sleep-polling", polled)];
        both[0].severity = Severity::Critical;
        mark(&mut both, Asker { facts: &Facts::default(), account: None });
        both[0].follows_from.is_some()
    };
    assert!(follows("/run/app/ready", "/run/app/ready"));
    assert!(follows("/run/app/job-7", "/run/app/*"));
    assert!(!follows("/run/app/ready", "/etc/app/*"));
    assert!(!follows("/run/app/ready", "/run/app"));
}
