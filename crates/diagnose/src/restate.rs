//! Shares of the asker's time: what rules of waits for a peer tell as a part of a thread's time is told as a part of the time of the requests, where
//! requests are what was asked about. A thread of an event loop or a proxy serves many of them at once, and waits for work between them: the
//! part of its own time says little of theirs.

use crate::claims::named_ns;
use whyslow_model::{Finding, ShareOf, ShareWhole, TimeAccount, TimeOf, TimeState, Unit};
use whyslow_rules::guards::Share;

/// The rules that add up waits for a peer, with the figure `time`.
const OF_PEERS: &[&str] = &["delayed-ack", "dns-timeout", "retry-storm"];
/// Of these, those that weigh by more than the time: what they say of the load stays.
const OF_LOAD: &[&str] = &["retry-storm"];
/// What is told of threads that wait for a CPU.
const QUEUED: &str = "run-queue-delay";
/// Where the requests' time has less than this part of a wait, it is no wait of theirs: an answer that is held back keeps the client.
const MOST_OF_IT: f64 = 0.5;

/// Tells the shares of findings about waits for peers as parts of the requests' time: at most what the account knows to have gone there.
pub(crate) fn restate(account: Option<&TimeAccount>, findings: &mut [Finding]) {
    let Some(account) = account.filter(|account| account.of == TimeOf::Requests && account.ns > 0) else {
        return;
    };
    findings.iter_mut().filter(|finding| finding.id == QUEUED).for_each(|finding| queued(account, finding));
    let is_meant =
        |finding: &&mut Finding| OF_PEERS.contains(&finding.id) && finding.share_whole == ShareWhole::Time;
    for finding in findings.iter_mut().filter(is_meant) {
        let time = finding.measurements.iter().find(|one| one.name == "time" && one.unit == Unit::Nanos);
        let Some(ns) = time.and_then(|time| time.value).filter(|_| finding.share.is_some()) else { continue };
        let there = named_ns(account, finding) as f64;
        if there < MOST_OF_IT * ns {
            continue;
        }
        let value = ns.min(there) / account.ns as f64;
        let share = Share::of_time(value, ShareOf::Requests);
        let severity = share.severity();
        finding.severity = match OF_LOAD.contains(&finding.id) {
            true => finding.severity.max(severity),
            false => severity,
        }
        .min(finding.at_most);
        (finding.share, finding.share_of) = (share.value, share.of);
    }
}

/// What threads wait for a CPU that their own program has is more of the time of the requests that they serve, where they have nothing to do
/// between them.
fn queued(account: &TimeAccount, finding: &mut Finding) {
    // Of what others take the thread's life tells: the queue is theirs, and ends with their load.
    let is_own = finding.measurements.iter().any(|one| one.name == "share_of_wait_for_own");
    let Some(pid) = finding.subject.pid.filter(|_| is_own && finding.share.is_some()) else { return };
    let rows = account.rows.iter().filter(|row| row.state == TimeState::RunQueue && row.pids.contains(&pid));
    let share = Share::of_time(rows.map(|row| row.share).sum::<f64>(), ShareOf::Requests);
    if share.value > finding.share {
        finding.severity = finding.severity.max(share.severity()).min(finding.at_most);
        (finding.share, finding.share_of) = (share.value, share.of);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{account, finding, row};
    use whyslow_model::{Measurement, Nanos, Severity};

    /// 2 s of delays at a peer, told as 1.5 % of a thread that waits for work most of the time.
    fn told(of: TimeOf, peer: &str) -> Finding {
        let mut account = account(vec![
            row(TimeState::Peer, Some("recvfrom"), Some("10.0.0.7:80"), 1_500_000_000),
            row(TimeState::User, None, None, 500_000_000),
        ]);
        account.of = of;
        let mut found = finding("delayed-ack", Some(1), Some(0.015));
        found.severity = Severity::Notice;
        found.share_of = ShareOf::wall_time_of(1);
        found.subject.peer = Some(peer.to_string());
        found.measurements.push(Measurement::time("time", Nanos::from_secs(2)));
        let mut findings = [found];
        restate(Some(&account), &mut findings);
        let [found] = findings;
        found
    }

    #[test]
    fn a_share_is_of_the_requests_and_no_more_than_their_time_at_that_peer() {
        let found = told(TimeOf::Requests, "10.0.0.7:80");
        assert_eq!((found.share, found.share_of.clone()), (Some(0.75), ShareOf::Requests));
        assert_eq!(found.severity, Severity::Critical);
    }

    #[test]
    fn a_share_of_threads_and_one_of_another_peer_stay_as_they_are() {
        for found in [told(TimeOf::Threads, "10.0.0.7:80"), told(TimeOf::Requests, "10.0.0.9:80")] {
            assert_eq!((found.share, found.severity), (Some(0.015), Severity::Notice));
        }
    }

    #[test]
    fn a_queue_for_a_cpu_weighs_by_the_requests_that_stand_in_it() {
        let mut account =
            account(vec![row(TimeState::RunQueue, None, None, 600), row(TimeState::User, None, None, 400)]);
        account.of = TimeOf::Requests;
        account.rows[0].pids = vec![1];
        let told = |pid, share, own: bool| {
            let mut found = finding(QUEUED, Some(pid), Some(share));
            found.severity = Severity::Notice;
            let own = own.then(|| Measurement::share("share_of_wait_for_own", 0.9));
            found.measurements.extend(own);
            let mut findings = [found];
            restate(Some(&account), &mut findings);
            let [found] = findings;
            (found.share, found.severity)
        };
        assert_eq!(told(1, 0.1, true), (Some(0.6), Severity::Critical));
        assert_eq!(told(1, 0.7, true), (Some(0.7), Severity::Notice));
        assert_eq!(told(2, 0.1, true), (Some(0.1), Severity::Notice));
        assert_eq!(told(1, 0.1, false), (Some(0.1), Severity::Notice));
    }
}
