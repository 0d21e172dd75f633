//! What is beside the question: where requests are served that take a good part of the time, a process in which none of it passes costs
//! them nothing. What is said of its time is mentioned, no more: a roll-up at night, a compaction, a child that reports.

use whyslow_facts::Facts;
use whyslow_model::{Finding, Severity, TimeAccount, TimeOf};

/// Requests that take less of the window than this may be those for metrics or for health: what the program is for is not known.
const REQUESTS_MATTER: f64 = 0.10;

/// Makes notices of findings about the time of processes in which no request's time passes.
pub(crate) fn cap(facts: &Facts, account: Option<&TimeAccount>, findings: &mut [Finding]) {
    let Some(account) = account.filter(|account| account.of == TimeOf::Requests) else { return };
    let window = facts.window.whole().or_zero();
    if window == 0 || (account.ns as f64) < REQUESTS_MATTER * window as f64 {
        return;
    }
    let is_waited_for =
        |pid: u32| account.rows.iter().any(|row| row.pids.is_empty() || row.pids.contains(&pid));
    // What refuses work or ends processes has no share of a time.
    let is_of_time = |finding: &&mut Finding| finding.share.is_some();
    for finding in findings.iter_mut().filter(is_of_time) {
        let pids: Vec<u32> = finding.subjects().filter_map(|subject| subject.pid).collect();
        let all_known = finding.subjects().all(|subject| subject.pid.is_some());
        if all_known && !pids.is_empty() && !pids.into_iter().any(is_waited_for) {
            finding.severity = finding.severity.min(Severity::Notice);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{account, finding, row};
    use whyslow_model::{Nanos, TimeState};

    /// The severity of a finding about process `pid` with a share, where process 7 serves requests for `ns` of a window of 1,000.
    fn severity(pid: Option<u32>, share: Option<f64>, ns: u64) -> Severity {
        use whyslow_model::{Call, Event, Sink, Timestamp};
        let mut facts = Facts::default();
        for at in [1, 1_001] {
            let mut call = Call::new("getpid", "");
            (call.tid, call.ts, call.dur) = (7, Timestamp::new(at), Nanos::ZERO);
            facts.push(Event::Call(&call));
        }
        facts.finish();
        let mut served = row(TimeState::User, None, None, ns);
        served.pids = vec![7];
        let account = TimeAccount { of: TimeOf::Requests, ..account(vec![served]) };
        let mut findings = [finding("cpu-bound", pid, share)];
        cap(&facts, Some(&account), &mut findings);
        findings[0].severity
    }

    #[test]
    fn a_process_in_which_no_request_waits_is_mentioned() {
        assert_eq!(severity(Some(8), Some(0.6), 500), Severity::Notice);
        assert_eq!(severity(Some(7), Some(0.6), 500), Severity::Warning);
        assert_eq!(severity(None, Some(0.6), 500), Severity::Warning);
        assert_eq!(severity(Some(8), None, 500), Severity::Warning);
    }

    #[test]
    fn requests_of_next_to_no_time_are_not_what_the_program_is_for() {
        assert_eq!(severity(Some(8), Some(0.6), 50), Severity::Warning);
    }
}
