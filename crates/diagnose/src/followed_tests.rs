//! Tests of who is behind the target's waits.

use super::*;
use crate::fixture::{account, finding, row};
use whyslow_model::account::Claim;
use whyslow_model::{Call, Event, Nanos, ProcessInfo, Ret, Sink, Timestamp};

fn followed(pid: u32, waiter: u32, hop: u32, via: &str, share: f64) -> Followed {
    let (ts, comm) = (Timestamp::new(1), format!("p{pid}"));
    Followed { ts, pid, comm, waiter, via: Via::of_words(via), share, hop }
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
fn workers_behind_one_address_stand_for_one_another() {
    let rows = [
        followed(2, 1, 1, "127.0.0.1:80", 0.9),
        followed(3, 1, 1, "127.0.0.1:80", 0.9),
        followed(5, 2, 2, "127.0.0.1:5432", 0.9),
        followed(6, 5, 3, "a lock of the database", 0.8),
    ];
    assert_eq!(pids(&rows, TimeState::Peer, "127.0.0.1:80"), Some(vec![2, 5, 6]));
    assert!(are_alike(&rows[0], &rows[1]) && !are_alike(&rows[1], &rows[2]));
    let pipes = [followed(2, 1, 1, "a pipe", 0.9), followed(3, 1, 1, "a pipe", 0.9)];
    assert!(!are_alike(&pipes[0], &pipes[1]));
}

/// Pushes a call of a process: its name, arguments, result and how long it took, ns.
type Push<'a> = dyn FnMut(&mut Facts, u32, &'static str, &str, i64, u64) + 'a;

/// A client of `gate`, which asks `store`, which syncs a file.
fn chain() -> Facts {
    let mut facts = Facts::of_target();
    let mut at = 1_000_000_000;
    let mut call = |facts: &mut Facts, pid: u32, name: &'static str, args: &str, ret: i64, dur: u64| {
        let mut call = Call::new(name, args);
        (call.tid, call.pid, call.ret) = (pid, Some(pid), Ret::Value(ret));
        (call.ts, call.dur) = (Timestamp::new(at), Nanos::new(dur));
        facts.push(Event::Call(&call));
        at += dur + 10_000;
    };
    let address = |port: u32| {
        format!("3, {{sa_family=AF_INET, sin_port=htons({port}), sin_addr=inet_addr(\"127.0.0.1\")}}, 16")
    };
    let connected = |facts: &mut Facts, call: &mut Push<'_>, pid| {
        call(facts, pid, "socket", "AF_INET, SOCK_STREAM|SOCK_CLOEXEC, IPPROTO_TCP", 3, 10_000);
        call(facts, pid, "connect", &address(70 + pid), 0, 10_000);
    };
    let named = |facts: &mut Facts, pid: u32, comm: &str| {
        let comm = Some(comm.to_string());
        facts.push(Event::Process(ProcessInfo { pid, tid: Some(pid), comm, ..ProcessInfo::default() }));
    };
    named(&mut facts, 7, "client");
    connected(&mut facts, &mut call, 7);
    for (pid, waiter, port, hop) in [(8, 7, 77, 1), (9, 8, 78, 2)] {
        let via = format!("127.0.0.1:{port}");
        facts.push(Event::Followed(Box::new(followed(pid, waiter, hop, &via, 0.9))));
    }
    named(&mut facts, 8, "gate");
    named(&mut facts, 9, "store");
    connected(&mut facts, &mut call, 8);
    call(&mut facts, 9, "openat", "AT_FDCWD, \"/srv/journal\", O_WRONLY|O_APPEND", 5, 10_000);
    for _ in 0..20 {
        for pid in [7, 8] {
            call(&mut facts, pid, "write", "3, \"order\", 5", 5, 10_000);
            call(&mut facts, pid, "read", "3, \"stored\", 64", 6, 40_000_000);
        }
        call(&mut facts, 9, "write", "5, \"row\", 3", 3, 10_000);
        call(&mut facts, 9, "fsync", "5", 0, 120_000_000);
    }
    facts.finish();
    facts
}

#[test]
fn each_hop_has_its_object_its_time_and_its_thread() {
    let diagnosis = crate::diagnose(&chain());
    let finding = diagnosis.findings.iter().find(|one| one.culprit.is_some()).expect("a wait");
    let culprit = finding.culprit.as_ref().expect("who is behind it");
    let told: Vec<_> = culprit
        .hops
        .iter()
        .map(|hop| (hop.pid, hop.tid, hop.object.as_deref(), hop.call.as_deref(), hop.ns.get(), hop.count))
        .collect();
    let expected = [
        (7, Some(7), Some("127.0.0.1:77"), Some("read"), Some(800_000_000), Some(20)),
        (8, Some(8), Some("127.0.0.1:78"), Some("read"), Some(800_000_000), Some(20)),
        (9, Some(9), Some("/srv/journal"), Some("fsync"), Some(2_400_000_000), Some(20)),
    ];
    assert_eq!(told, expected);
    assert_eq!(finding.chain.len(), 3, "{:?}", finding.chain);
    assert!(finding.chain.iter().all(|link| link.ns.is_known()), "{:?}", finding.chain);
    assert!(finding.chain[1].evidence.contains("20 times, 40.0 ms each"), "{:?}", finding.chain);
    assert!(culprit.does.starts_with("waits for /srv/journal in fsync"), "{}", culprit.does);
}

#[test]
fn without_anybody_taken_in_nothing_is_told() {
    let mut findings = vec![finding("waits-for-peer", Some(1), Some(0.9))];
    explain(&Facts::default(), None, &mut findings);
    assert!(findings[0].culprit.is_none() && findings[0].chain.is_empty());
    assert!(named(&Facts::default()).is_empty());
}

/// A client of a server whose workers were forked before: the parent listens too and waits for the end of its workers, the worker sleeps
/// before each answer.
fn forked_server() -> Facts {
    let mut facts = Facts::of_target();
    let call =
        |facts: &mut Facts, at: u64, pid: u32, (name, args): (&'static str, &str), ret: i64, dur: u64| {
            let mut call = Call::new(name, args);
            (call.tid, call.pid, call.ret) = (pid, Some(pid), Ret::Value(ret));
            (call.ts, call.dur) = (Timestamp::new(at), Nanos::new(dur));
            facts.push(Event::Call(&call));
        };
    for (pid, parent, comm) in [(7, None, "client"), (8, None, "server"), (9, Some(8), "server")] {
        let comm = Some(comm.to_string());
        let info = ProcessInfo { pid, tid: Some(pid), parent, comm, ..ProcessInfo::default() };
        facts.push(Event::Process(info));
        if pid != 7 {
            facts.push(Event::Followed(Box::new(followed(pid, 7, 1, "127.0.0.1:77", 0.9))));
        }
    }
    let (ms, begin) = (1_000_000, 1_000_000_000);
    let to = "3, {sa_family=AF_INET, sin_port=htons(77), sin_addr=inet_addr(\"127.0.0.1\")}, 16";
    call(&mut facts, begin, 7, ("socket", "AF_INET, SOCK_STREAM|SOCK_CLOEXEC, IPPROTO_TCP"), 3, 10_000);
    call(&mut facts, begin + 20_000, 7, ("connect", to), 0, 10_000);
    for at in (0..20).map(|turn| begin + ms + turn * 100 * ms) {
        call(&mut facts, at, 7, ("write", "3, \"order\", 5"), 5, 10_000);
        call(&mut facts, at + 20_000, 7, ("read", "3, \"stored\", 64"), 6, 90 * ms);
        call(&mut facts, at + ms, 9, ("nanosleep", "{tv_sec=0, tv_nsec=60000000}, NULL"), 0, 60 * ms);
        call(&mut facts, at + 62 * ms, 9, ("accept4", "4, NULL, NULL, 0"), 5, 37 * ms);
    }
    call(&mut facts, begin, 8, ("wait4", "-1, NULL, 0, NULL"), 9, 2_000 * ms);
    facts.finish();
    facts
}

#[test]
fn the_parent_of_workers_answers_nobody() {
    let diagnosis = crate::diagnose(&forked_server());
    let culprits: Vec<(u32, &str)> = (diagnosis.findings.iter())
        .filter_map(|one| one.culprit.as_ref())
        .map(|culprit| (culprit.pid, culprit.does.as_str()))
        .collect();
    assert!(
        !culprits.is_empty() && culprits.iter().all(|(pid, does)| *pid == 9 && does.starts_with("sleeps")),
        "{culprits:?}"
    );
}
