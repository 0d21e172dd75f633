//! Which finding explains which part of the time: each part of a row of the account belongs to one finding at most, the one that is
//! told first. What follows from another finding claims nothing beside it.

use crate::asker::Asker;
use whyslow_facts::Facts;
use whyslow_model::account::Claim;
use whyslow_model::{AccountRow, Finding, Severity, ShareWhole, Subject, TimeAccount, TimeState};

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
    let mut left: Vec<u64> = account.rows.iter().map(|row| row.ns).collect();
    for (finding, mut budget) in claimants {
        let mut fitting: Vec<(Fit, usize)> =
            account.rows.iter().enumerate().filter_map(|(at, row)| Some((fit(finding, row)?, at))).collect();
        // Rows stand in the order of their time.
        fitting.sort();
        for (_, at) in fitting {
            let ns = left[at].min(budget);
            if ns > 0 {
                left[at] -= ns;
                budget -= ns;
                claimed(&mut account.rows[at], finding.id, ns);
            }
        }
    }
    let claims = account.rows.iter().flat_map(|row| &row.claimed_by);
    account.claimed_ns = claims.map(|claim| claim.ns).sum();
}

fn claimed(row: &mut AccountRow, id: &'static str, ns: u64) {
    match row.claimed_by.iter_mut().find(|claim| claim.id == id) {
        Some(claim) => claim.ns += ns,
        None => row.claimed_by.push(Claim { id, ns }),
    }
}

/// How well a row fits to a finding: what is named comes first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    /// Its object is the one that the finding is about.
    Object,
    /// It is spent in the calls, or in the way, that the finding is about.
    State,
}

fn fit(finding: &Finding, row: &AccountRow) -> Option<Fit> {
    use TimeState::{BetweenCalls, InCall, Kernel, RunQueue, Throttled, Unknown, User};
    let subject = &finding.subject;
    let of_others = subject.pid.is_some_and(|pid| !row.pids.is_empty() && !row.pids.contains(&pid));
    if of_others || row.state == Unknown {
        return None;
    }
    let in_state = |states: &[TimeState]| states.contains(&row.state).then_some(Fit::State);
    match finding.id {
        "run-queue-delay" => return in_state(&[RunQueue]),
        "cpu-throttled" => return in_state(&[Throttled, RunQueue]),
        // What is stolen is a part of all that runs, and no row of its own.
        "steal-time" => return None,
        "cpu-bound" => return in_state(&[User, BetweenCalls]),
        _ if finding.share_whole == ShareWhole::CpuTime => {
            return in_state(&[User, Kernel, InCall, BetweenCalls]);
        }
        _ => {}
    }
    let names = named(subject);
    if let (Some(object), false) = (&row.object, names.is_empty()) {
        return names.iter().any(|name| is_of(object, name)).then_some(Fit::Object);
    }
    let calls = subject.syscall.as_deref()?;
    let call = row.call.as_deref()?;
    calls.split(['/', ',', ' ']).any(|one| one == call).then_some(Fit::State)
}

/// What a finding is about, by the names that rows have.
fn named(subject: &Subject) -> Vec<&str> {
    let names = [&subject.path, &subject.peer, &subject.lock, &subject.device];
    names.into_iter().filter_map(|name| name.as_deref()).filter(|name| !name.is_empty()).collect()
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
    use whyslow_model::{FollowsFrom, Known, Nanos, Saving, TimeOf};

    fn row(state: TimeState, call: Option<&str>, object: Option<&str>, ns: u64) -> AccountRow {
        AccountRow {
            who: "app (1)".to_string(),
            threads: 1,
            pids: vec![1],
            state,
            call: call.map(str::to_string),
            object: object.map(str::to_string),
            function: None,
            ns,
            share: ns as f64 / 1_000.0,
            count: None,
            mean_ns: Nanos::UNKNOWN,
            p99_ns: Nanos::UNKNOWN,
            longest_ns: Nanos::UNKNOWN,
            known: Known::Exact,
            claimed_by: Vec::new(),
            evidence: None,
        }
    }

    fn finding(id: &'static str, share: Option<f64>, subject: Subject) -> Finding {
        Finding {
            id,
            title: String::new(),
            severity: Severity::Warning,
            disagreement: false,
            confidence: 0.9,
            share,
            share_of: String::new(),
            share_whole: ShareWhole::Time,
            follows_from: None,
            saving: Saving::default(),
            subject,
            cause: String::new(),
            fix: Vec::new(),
            chain: Vec::new(),
            evidence: Vec::new(),
            verify: String::new(),
        }
    }

    fn account() -> TimeAccount {
        let rows = vec![
            row(TimeState::File, Some("fsync"), Some("/srv/orders-12.db"), 500),
            row(TimeState::User, None, None, 300),
            row(TimeState::RunQueue, None, None, 150),
            row(TimeState::Unknown, None, None, 50),
        ];
        TimeAccount {
            target: "app (1)".to_string(),
            of: TimeOf::Threads,
            count: 1,
            ns: 1_000,
            idle_ns: 0,
            unknown_ns: 50,
            claimed_ns: 0,
            rows,
        }
    }

    fn claims(findings: &[Finding]) -> (TimeAccount, Vec<Vec<(&'static str, u64)>>) {
        let mut account = account();
        let facts = Facts::default();
        claim(&facts, &mut account, findings);
        let of = |row: &AccountRow| row.claimed_by.iter().map(|claim| (claim.id, claim.ns)).collect();
        let rows = account.rows.iter().map(of).collect();
        (account, rows)
    }

    fn about(path: &str) -> Subject {
        Subject { pid: Some(1), path: Some(path.to_string()), ..Subject::default() }
    }

    #[test]
    fn the_first_finding_has_its_part_and_the_next_what_is_left() {
        let both = [
            finding("fsync-per-write", Some(0.4), about("/srv/orders-{n}.db")),
            finding("slow-file-io", None, about("/srv/orders-12.db")),
            finding("run-queue-delay", Some(0.9), Subject::default()),
        ];
        let (account, rows) = claims(&both);
        assert_eq!(rows[0], [("fsync-per-write", 400), ("slow-file-io", 100)]);
        assert_eq!((rows[1].len(), &rows[2][..], rows[3].len()), (0, &[("run-queue-delay", 150)][..], 0));
        assert_eq!(account.claimed_ns, 650);
    }

    #[test]
    fn nothing_is_claimed_by_consequences_nor_of_other_files_processes_or_unknown_time() {
        let mut consequence = finding("slow-file-io", None, about("/srv/orders-12.db"));
        consequence.follows_from = Some(FollowsFrom { id: "sync-open", reason: "" });
        let elsewhere = finding("file-reread", None, about("/srv/other.txt"));
        let other = finding("cpu-bound", Some(1.0), Subject { pid: Some(2), ..Subject::default() });
        let (account, rows) = claims(&[consequence, elsewhere, other]);
        assert_eq!((account.claimed_ns, rows.iter().all(Vec::is_empty)), (0, true));
    }
}
