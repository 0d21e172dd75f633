//! Which finding explains which part of the time: each part of a row of the account belongs to one finding at most, the one that is
//! told first. What follows from another finding claims nothing beside it.

use crate::asker::Asker;
use whyslow_facts::Facts;
use whyslow_model::account::Claim;
use whyslow_model::{AccountRow, Finding, Severity, ShareWhole, Subject, TimeAccount, TimeState};

/// A finding that explains this part of the waits for a peer or a lock explains them all.
const MOSTLY: f64 = 0.5;

/// Gives the rows of an account the findings that claim them.
pub(crate) fn claim(facts: &Facts, account: &mut TimeAccount, findings: &[Finding]) {
    let asker = Asker { facts, account: Some(account) };
    let budget = |finding: &Finding| match finding.share_whole {
        ShareWhole::Calls => u64::MAX,
        _ if finding.share.is_none() => u64::MAX,
        _ => (asker.share(finding) * account.ns as f64) as u64,
    };
    let primary = |finding: &&Finding| finding.severity > Severity::Capture && finding.follows_from.is_none();
    let claimants: Vec<(&Finding, u64)> =
        findings.iter().filter(primary).map(|finding| (finding, budget(finding))).collect();
    let claimed_of =
        |row: &AccountRow| row.claimed_by.iter().map(|claim| claim.ns).fold(0, u64::saturating_add);
    let mut left: Vec<u64> = account.rows.iter().map(|row| row.ns.saturating_sub(claimed_of(row))).collect();
    for (finding, mut budget) in claimants {
        let mut fitting: Vec<(Fit, usize)> =
            account.rows.iter().enumerate().filter_map(|(at, row)| Some((fit(finding, row)?, at))).collect();
        // Rows stand in the order of their time.
        fitting.sort();
        for (fit, at) in fitting {
            let row = &account.rows[at];
            let is_its_culprit = fit == Fit::Object && matches!(row.state, TimeState::Peer | TimeState::Lock);
            // What is left of the waits for one and the same culprit is no finding of its own.
            let is_most = finding.share.is_some() && budget as f64 >= MOSTLY * row.ns as f64;
            if is_its_culprit && is_most && finding.share_whole == ShareWhole::Time {
                budget = budget.max(left[at]);
            }
            let ns = left[at].min(budget);
            if ns > 0 {
                left[at] -= ns;
                budget -= ns;
                claimed(&mut account.rows[at], finding.id, ns);
            }
        }
    }
    let claims = account.rows.iter().flat_map(|row| &row.claimed_by);
    // Times that a damaged recording tells may be any.
    account.claimed_ns = claims.map(|claim| claim.ns).fold(0, u64::saturating_add);
}

fn claimed(row: &mut AccountRow, id: &'static str, ns: u64) {
    match row.claimed_by.iter_mut().find(|claim| claim.id == id) {
        Some(claim) => claim.ns += ns,
        None => row.claimed_by.push(Claim { id, ns }),
    }
}

/// The time of the rows whose object a finding names, ns.
pub(crate) fn named_ns(account: &TimeAccount, finding: &Finding) -> u64 {
    let named = account.rows.iter().filter(|row| fit(finding, row) == Some(Fit::Object));
    named.map(|row| row.ns).fold(0, u64::saturating_add)
}

/// How well a row fits to a finding: what is named comes first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    /// Its object is the one that the finding is about.
    Object,
    /// It is spent in the calls, or in the way, that the finding is about.
    State,
    /// It is spent in a way that such findings are about, and nothing tells that it is another's.
    Kind,
}

fn fit(finding: &Finding, row: &AccountRow) -> Option<Fit> {
    use TimeState::{BetweenCalls, InCall, Kernel, RunQueue, Stolen, Throttled, Unknown, User};
    let subject = &finding.subject;
    let in_state = |states: &[TimeState]| states.contains(&row.state).then_some(Fit::State);
    let rule = whyslow_rules::find(finding.id)?;
    if let Some(states) = rule.unclaimed_states() {
        return in_state(states);
    }
    let is_its =
        |subject: &Subject| subject.pid.is_none_or(|pid| row.pids.is_empty() || row.pids.contains(&pid));
    let of_others = !finding.subjects().any(is_its);
    if of_others || row.state == Unknown {
        return None;
    }
    match finding.id {
        "run-queue-delay" | "too-many-threads" => return in_state(&[RunQueue]),
        "cpu-throttled" => return in_state(&[Throttled, RunQueue]),
        "steal-time" => return in_state(&[Stolen]),
        "cpu-bound" => return in_state(&[User, BetweenCalls]),
        _ if finding.share_whole == ShareWhole::CpuTime => {
            return in_state(&[User, Kernel, InCall, BetweenCalls]);
        }
        _ => {}
    }
    let names: Vec<&str> = finding.subjects().flat_map(named).collect();
    if let (Some(object), false) = (&row.object, names.is_empty()) {
        return names.iter().any(|name| is_of(object, name)).then_some(Fit::Object);
    }
    let calls = subject.syscall.as_deref().unwrap_or_default();
    if row.call.as_deref().is_some_and(|call| calls.split(['/', ',', ' ']).any(|one| one == call)) {
        return Some(Fit::State);
    }
    let is_measured = finding.share.is_some() && finding.share_whole == ShareWhole::Time;
    let weighs = is_measured && finding.severity >= Severity::Warning;
    (weighs && times_of(rule.group).contains(&row.state)).then_some(Fit::Kind)
}

/// The times that rules of a group are about, where nothing else tells which.
fn times_of(group: &str) -> &'static [TimeState] {
    use TimeState::{
        Accept, Child, Client, Event, File, InCall, Kernel, KernelWait, Lock, PageFault, Peer, Pipe, Poll,
        Timer,
    };
    match group {
        "network" => &[Peer, Client, Accept, Poll],
        "files" | "io" | "logs" => &[File, InCall, Kernel],
        "memory" => &[PageFault, InCall, Kernel, KernelWait],
        "process" => &[Child, InCall, Kernel],
        "waits" => &[Lock, Pipe, Child, Timer, Event, Poll, Peer],
        _ => &[],
    }
}

/// What a finding is about, by the names that rows have.
fn named(subject: &Subject) -> impl Iterator<Item = &str> {
    let names = [&subject.path, &subject.peer, &subject.lock, &subject.device];
    names.into_iter().filter_map(|name| name.as_deref()).filter(|name| !name.is_empty())
}

/// True where an object is the one named, has it in its own name, or is one of a pattern (`/srv/{n}.txt`).
fn is_of(object: &str, name: &str) -> bool {
    let mut rest = object;
    let mut pieces =
        name.split(['{', '}']).enumerate().filter(|(at, piece)| at % 2 == 0 && !piece.is_empty());
    let has_all = pieces.all(|(_, piece)| match rest.find(piece) {
        Some(at) => {
            rest = &rest[at + piece.len()..];
            true
        }
        None => false,
    });
    has_all || name.contains(object)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{account, finding, row};
    use whyslow_model::FollowsFrom;

    fn claims(findings: &[Finding]) -> (TimeAccount, Vec<Vec<(&'static str, u64)>>) {
        let mut account = account(vec![
            row(TimeState::File, Some("fsync"), Some("/srv/orders-12.db"), 500),
            row(TimeState::User, None, None, 300),
            row(TimeState::RunQueue, None, None, 150),
            row(TimeState::Unknown, None, None, 50),
        ]);
        let facts = Facts::default();
        claim(&facts, &mut account, findings);
        let of = |row: &AccountRow| row.claimed_by.iter().map(|claim| (claim.id, claim.ns)).collect();
        let rows = account.rows.iter().map(of).collect();
        (account, rows)
    }

    fn about(id: &'static str, share: Option<f64>, path: &str) -> Finding {
        let mut finding = finding(id, Some(1), share);
        finding.subject.path = Some(path.to_string());
        finding
    }

    #[test]
    fn the_first_finding_has_its_part_and_the_next_what_is_left() {
        let both = [
            about("fsync-per-write", Some(0.4), "/srv/orders-{n}.db"),
            about("slow-file-io", None, "/srv/orders-12.db"),
            finding("run-queue-delay", None, Some(0.9)),
        ];
        let (account, rows) = claims(&both);
        assert_eq!(rows[0], [("fsync-per-write", 400), ("slow-file-io", 100)]);
        assert_eq!((rows[1].len(), &rows[2][..], rows[3].len()), (0, &[("run-queue-delay", 150)][..], 0));
        assert_eq!(account.claimed_ns, 650);
    }

    #[test]
    fn nothing_is_claimed_by_consequences_nor_of_other_files_processes_or_unknown_time() {
        let mut consequence = about("slow-file-io", None, "/srv/orders-12.db");
        consequence.follows_from = Some(FollowsFrom { id: "sync-open", reason: "" });
        let elsewhere = about("file-reread", None, "/srv/other.txt");
        let other = finding("cpu-bound", Some(2), Some(1.0));
        let (account, rows) = claims(&[consequence, elsewhere, other]);
        assert_eq!((account.claimed_ns, rows.iter().all(Vec::is_empty)), (0, true));
    }

    #[test]
    fn what_names_nothing_claims_its_part_of_the_times_that_its_group_is_about() {
        let (_, rows) = claims(&[finding("slow-file-io", Some(1), Some(0.2))]);
        assert_eq!(rows[0], [("slow-file-io", 200)]);
        let mut notice = finding("slow-file-io", Some(1), Some(0.2));
        notice.severity = Severity::Notice;
        let unmeasured = finding("slow-file-io", Some(1), None);
        assert_eq!(claims(&[notice, unmeasured]).0.claimed_ns, 0);
    }

    #[test]
    fn what_explains_most_of_the_waits_for_a_peer_explains_them_all() {
        let facts = Facts::default();
        let left = |share| {
            let mut account = account(vec![
                row(TimeState::Peer, Some("recvfrom"), Some("10.0.0.7:6379"), 600),
                row(TimeState::User, None, None, 400),
            ]);
            let mut late = finding("slow-downstream", Some(1), Some(share));
            late.subject.peer = Some("10.0.0.7:6379".to_string());
            claim(&facts, &mut account, &[late]);
            account.rows[0].ns - account.claimed_ns
        };
        assert_eq!([left(0.4), left(0.2)], [0, 400]);
    }

    #[test]
    fn a_general_finding_claims_what_others_left_of_its_states() {
        let (mut account, _) = claims(&[finding("cpu-bound", Some(1), Some(0.1))]);
        let facts = Facts::default();
        claim(&facts, &mut account, &[finding("computes", None, Some(0.2))]);
        let rows: Vec<u64> = account.rows[1].claimed_by.iter().map(|claim| claim.ns).collect();
        assert_eq!((rows, account.claimed_ns), (vec![100, 200], 300));
    }
}
