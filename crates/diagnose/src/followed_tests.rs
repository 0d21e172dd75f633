//! Tests of who is behind the target's waits.

use super::*;
use crate::fixture::{account, finding, row};
use whyslow_model::Timestamp;
use whyslow_model::account::Claim;

fn followed(pid: u32, waiter: u32, hop: u32, via: &str, share: f64) -> Followed {
    let (ts, comm) = (Timestamp::new(1), format!("p{pid}"));
    Followed { ts, pid, comm, waiter, via: via.to_string(), share, hop }
}

/// The numbers along the way from a wait of process 1 in that state, for that object.
fn pids(rows: &[Followed], state: TimeState, object: &str) -> Option<Vec<u32>> {
    let mut largest = row(state, Some("recvfrom"), Some(object), 900);
    largest.claimed_by.push(Claim { id: "waits-for-peer", ns: 900 });
    let mut finding = finding("waits-for-peer", Some(1), Some(0.9));
    finding.subject.peer = (state == TimeState::Peer).then(|| object.to_string());
    let way = way(rows, Some(&account(vec![largest])), &finding)?;
    Some(way.iter().map(|row| row.pid).collect())
}

#[test]
fn the_way_leads_along_the_largest_part_to_the_last_one() {
    let rows = [
        followed(2, 1, 1, "127.0.0.1:80", 0.9),
        followed(3, 2, 2, "the lock of /srv/a.lock", 0.8),
        followed(4, 2, 2, "127.0.0.1:6379", 0.1),
        followed(5, 3, 3, "a pipe", 0.2),
    ];
    assert_eq!(pids(&rows, TimeState::Peer, "api (2, 127.0.0.1:80)"), Some(vec![2, 3]));
}

#[test]
fn only_a_wait_for_one_of_them_leads_anywhere() {
    let rows = [followed(2, 1, 1, "127.0.0.1:80", 0.9), followed(6, 1, 1, "a pipe", 0.1)];
    assert_eq!(pids(&rows, TimeState::Peer, "10.0.0.9:5432"), None);
    assert_eq!(pids(&rows, TimeState::Pipe, "its pipes"), Some(vec![6]));
    assert_eq!(pids(&rows, TimeState::File, "/srv/a.db"), None);
    // Of two pipes nobody knows which is meant.
    let rows = [followed(6, 1, 1, "a pipe", 0.5), followed(7, 1, 1, "a pipe", 0.4)];
    assert_eq!(pids(&rows, TimeState::Pipe, "its pipes"), None);
}

#[test]
fn a_way_that_goes_in_a_circle_ends() {
    let rows = [
        followed(2, 1, 1, "/run/a.sock", 0.9),
        followed(3, 2, 2, "a pipe", 0.9),
        followed(2, 3, 3, "a pipe", 0.9),
    ];
    assert_eq!(pids(&rows, TimeState::Peer, "/run/a.sock"), Some(vec![2, 3]));
}

#[test]
fn without_anybody_taken_in_nothing_is_told() {
    let mut findings = vec![finding("waits-for-peer", Some(1), Some(0.9))];
    explain(&Facts::default(), None, &mut findings);
    assert!(findings[0].culprit.is_none() && findings[0].chain.is_empty());
    assert!(named(&Facts::default()).is_empty());
}
