//! Cause chains over strace's text: who waits for whom, and what the capture lacks.

use whyslow_chain::{Explainer, Missing, PathKind};
use whyslow_facts::Facts;
use whyslow_facts::folds::graph::{Ended, How, Resource};
use whyslow_model::Timestamp;

fn facts(trace: &str) -> Facts {
    let input = whyslow_read::Input::Bytes {
        name: "trace.st".to_string(),
        data: trace.trim_start().as_bytes().to_vec(),
    };
    let mut facts = Facts::default();
    whyslow_read::read(&[input], &whyslow_read::ReadOptions { threads: 1 }, &(), &mut facts)
        .expect("a trace");
    facts.finish();
    facts
}

/// The excerpt of the source case 001: a worker behind a lock, its holder behind another one.
const EXCERPT: &str = r#"
24594 08:36:23.711719 stat("/data/app/detail/conf/override.properties", 0x7f0034bdce00) = -1 ENOENT (No such file or directory) <0.000198>
24594 08:36:23.712095 futex(0x7f004c4a4954, FUTEX_WAIT_PRIVATE, 57, NULL <unfinished ...>
11091 08:36:23.528815 stat("/data/app/detail/conf/override.properties",  <unfinished ...>
11091 08:36:23.528965 <... stat resumed> 0x7f00c4d3bd40) = -1 ENOENT (No such file or directory) <0.000150>
11091 08:36:23.529122 futex(0x7f004c01e354, FUTEX_WAIT_PRIVATE, 593, NULL <unfinished ...>
24594 08:36:26.348141 <... futex resumed> ) = 0 <2.636041>
24594 08:36:26.348653 futex(0x7f004c4a4928, FUTEX_WAIT_PRIVATE, 2, NULL <unfinished ...>
24594 08:36:26.349129 <... futex resumed> ) = -1 EAGAIN (Resource temporarily unavailable) <0.000470>
24594 08:36:26.349630 futex(0x7f004c4a4928, FUTEX_WAKE_PRIVATE, 1 <unfinished ...>
24594 08:36:26.350070 <... futex resumed> ) = 0 <0.000434>
24594 08:36:26.350476 futex(0x7f004c01e354, FUTEX_WAKE_OP_PRIVATE, 1, 1, 0x7f004c01e350, {FUTEX_OP_SET, 0, FUTEX_OP_CMP_GT, 1} <unfinished ...>
11091 08:36:26.351049 <... futex resumed> ) = 0 <2.821923>
24594 08:36:26.351104 <... futex resumed> ) = 1 <0.000611>
"#;

#[test]
fn the_chain_of_the_source_case() {
    let facts = facts(EXCERPT);
    let wait = facts.graph.timeline(11091).expect("the waiter").calls[0];
    assert_eq!(
        (wait.dur().get(), wait.what),
        (Some(2_821_923_000), Resource::Lock { address: 0x7f004c01e354 })
    );
    let waker = wait.waker.expect("a waker");
    assert_eq!((waker.tid, waker.how), (24594, How::FutexWake));
    let explainer = Explainer::new(&facts);
    let path = explainer.path(11091, wait.from, wait.to);
    assert_eq!(path.total(), 2_821_923_000);
    let lock = path.of(PathKind::Lock) as f64 / path.total() as f64;
    assert!((lock - 0.934).abs() < 0.000_5, "{lock}");
    let before: u64 = path
        .segments
        .iter()
        .filter(|part| part.missing == Some(Missing::Before(24594)))
        .map(|part| part.ns)
        .sum();
    assert_eq!(before, 182_597_000, "the 183 ms that nothing explains");
    let chain = explainer.chain(&path);
    assert_eq!(chain.len(), 2, "{chain:#?}");
    assert_eq!((chain[0].who.as_str(), chain[0].ns.get()), ("thread 11091", Some(2_821_923_000)));
    assert_eq!(chain[0].waits_for, "futex 0x7f004c01e354, woken by thread 24594 (a futex wake)");
    assert_eq!((chain[1].who.as_str(), chain[1].ns.get()), ("thread 24594", Some(2_636_041_000)));
    assert_eq!(
        chain[1].waits_for,
        "futex 0x7f004c4a4954; the chain ends here: the capture does not show who ended it"
    );
    assert_eq!(chain[1].evidence, "trace.st:2,6");
}

#[test]
fn without_the_holder_the_chain_says_that_it_is_missing() {
    let trace: String = EXCERPT
        .lines()
        .filter(|line| line.starts_with("11091") || line.contains("WAKE_OP"))
        .map(|line| {
            line.replace(
                " <unfinished ...>",
                if line.starts_with("24594") { ") = 1 <0.000611>" } else { " <unfinished ...>" },
            ) + "\n"
        })
        .collect();
    let facts = facts(&trace);
    let explainer = Explainer::new(&facts);
    let wait = facts.graph.timeline(11091).unwrap().calls[0];
    let path = explainer.path(11091, wait.from, wait.to);
    let lacks: u64 = path
        .segments
        .iter()
        .filter(|part| matches!(part.missing, Some(Missing::Before(24594))))
        .map(|part| part.ns)
        .sum();
    assert!(lacks > 2_800_000_000, "{:?}", path.by_kind());
}

/// A parent that waits for its child, which reads from a pipe that a third process fills late, and the parent of both joins.
#[test]
fn pipes_children_and_threads_are_followed() {
    let facts = facts(
        r#"
100 10:00:00.000000 pipe2([3, 4], 0)    = 0 <0.000010>
100 10:00:00.000100 clone(child_stack=NULL, flags=CLONE_CHILD_SETTID|SIGCHLD) = 101 <0.000100>
100 10:00:00.000300 clone(child_stack=NULL, flags=CLONE_CHILD_SETTID|SIGCHLD) = 102 <0.000100>
101 10:00:00.000400 read(3,  <unfinished ...>
102 10:00:00.000500 nanosleep({tv_sec=0, tv_nsec=200000000}, NULL) = 0 <0.200000>
100 10:00:00.000600 wait4(101,  <unfinished ...>
102 10:00:00.200700 write(4, "x", 1)    = 1 <0.000020>
101 10:00:00.200800 <... read resumed> "x", 1) = 1 <0.200400>
101 10:00:00.200900 fsync(1)            = 0 <0.050000>
101 10:00:00.251000 exit_group(0)       = ?
101 10:00:00.251100 +++ exited with 0 +++
100 10:00:00.251200 <... wait4 resumed> NULL, 0, NULL) = 101 <0.250600>
"#,
    );
    let explainer = Explainer::new(&facts);
    let at = |us: u64| Timestamp::new((36_000_000_000 + us) * 1_000);
    let path = explainer.path(100, at(600), at(251_200));
    let order: Vec<u32> = path.stays.iter().map(|stay| stay.tid).collect();
    assert_eq!(order, [100, 101, 102], "{:#?}", path.segments);
    assert_eq!(path.of(PathKind::Timer), 199_900_000, "{:?}", path.by_kind());
    assert_eq!(path.of(PathKind::Disk), 50_000_000);
    // All but what the third process did in the moment of its write.
    assert!(path.of(PathKind::Pipe) <= 20_000 && path.of(PathKind::Unknown) == 0, "{:?}", path.by_kind());
    let chain = explainer.chain(&path);
    assert_eq!(chain.last().unwrap().waits_for, "a time (nanosleep)");
    assert_eq!(chain.len(), 3);
}

#[test]
fn a_hang_is_a_wait_to_the_end_of_the_capture() {
    let facts = facts(
        r#"
7 10:00:00.000000 futex(0x7f10, FUTEX_WAIT_PRIVATE, 2, NULL <unfinished ...>
8 10:00:00.000100 nanosleep({tv_sec=5, tv_nsec=0}, NULL) = 0 <5.000000>
"#,
    );
    let wait = facts.graph.timeline(7).expect("a wait").calls[0];
    assert_eq!((wait.ended, wait.dur().get()), (Ended::NotYet, Some(5_000_100_000)));
    let explainer = Explainer::new(&facts);
    let (from, to) = explainer.span(7).unwrap();
    let path = explainer.path(7, from, to);
    assert_eq!(path.by_kind(), [(PathKind::Lock, 5_000_100_000)]);
}

#[test]
fn both_ends_of_a_loopback_connection_are_one_wait() {
    let facts = facts(
        r#"
20 10:00:00.000000 sendto(5<TCP:[127.0.0.1:40000->127.0.0.1:8080]>, "GET /a HTTP/1.1\r\n\r\n", 19, 0, NULL, 0) = 19 <0.000020>
30 10:00:00.000050 recvfrom(7<TCP:[127.0.0.1:8080->127.0.0.1:40000]>, "GET /a HTTP/1.1\r\n\r\n", 4096, 0, NULL, NULL) = 19 <0.000010>
20 10:00:00.000100 recvfrom(5<TCP:[127.0.0.1:40000->127.0.0.1:8080]>,  <unfinished ...>
30 10:00:00.000200 fsync(9</var/db/journal>) = 0 <0.300000>
30 10:00:00.300300 sendto(7<TCP:[127.0.0.1:8080->127.0.0.1:40000]>, "HTTP/1.1 200 OK\r\n\r\n", 19, 0, NULL, 0) = 19 <0.000030>
20 10:00:00.300400 <... recvfrom resumed> "HTTP/1.1 200 OK\r\n\r\n", 4096, 0, NULL, NULL) = 19 <0.300300>
"#,
    );
    let wait = facts.graph.timeline(20).unwrap().calls[0];
    assert_eq!(wait.waker.map(|waker| (waker.tid, waker.how)), Some((30, How::OtherEnd)));
    assert_eq!(facts.graph.name(wait.asked), Some("GET /a"));
    let explainer = Explainer::new(&facts);
    let path = explainer.path(20, wait.from, wait.to);
    assert_eq!(path.of(PathKind::Disk), 300_000_000, "{:?}", path.by_kind());
    assert_eq!(explainer.chain(&path)[1].waits_for, "fsync of /var/db/journal");
}

#[test]
fn the_end_of_a_process_ends_the_wait_at_its_pipe() {
    let facts = facts(
        r#"
100 10:00:00.000000 pipe2([3, 4], 0)    = 0 <0.000010>
100 10:00:00.000100 clone(child_stack=NULL, flags=CLONE_CHILD_SETTID|SIGCHLD) = 101 <0.000100>
100 10:00:00.000300 close(4)            = 0 <0.000010>
101 10:00:00.000350 dup2(4, 1)          = 1 <0.000010>
100 10:00:00.000400 read(3,  <unfinished ...>
101 10:00:00.000500 fsync(9</data/x>)   = 0 <0.200000>
101 10:00:00.200600 exit_group(0)       = ?
100 10:00:00.200700 <... read resumed> "", 4096) = 0 <0.200300>
101 10:00:00.200900 +++ exited with 0 +++
"#,
    );
    let wait = facts.graph.timeline(100).expect("the reader").calls[0];
    assert_eq!(wait.waker.map(|waker| (waker.tid, waker.how)), Some((101, How::Closed)));
    let explainer = Explainer::new(&facts);
    assert_eq!(explainer.path(100, wait.from, wait.to).of(PathKind::Disk), 200_000_000);
}

/// A service that asks another one for each request.
fn asks(requests: u64) -> String {
    let mut trace = String::new();
    for i in 0..requests {
        let at = |ms: u64| format!("514 10:00:{:02}.{:03}000", (i * 40 + ms) / 1000, (i * 40 + ms) % 1000);
        trace += &format!(
            r#"{} recvfrom(8<TCP:[10.0.0.2:80->10.0.0.9:50001]>, "GET /orders/{i} HTTP/1.1\r\nHost: a\r\n\r\n", 8192, 0, NULL, NULL) = 40 <0.000030>
{} sendto(9<TCP:[10.0.0.2:40001->10.0.0.7:6379]>, "*2\r\n$3\r\nGET\r\n$1\r\nk\r\n", 20, 0, NULL, 0) = 20 <0.000040>
{} recvfrom(9<TCP:[10.0.0.2:40001->10.0.0.7:6379]>, "$-1\r\n", 8192, 0, NULL, NULL) = 5 <0.030000>
{} sendto(8<TCP:[10.0.0.2:80->10.0.0.9:50001]>, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 38, 0, NULL, 0) = 38 <0.000040>
"#,
            at(0),
            at(1),
            at(2),
            at(33)
        );
    }
    trace
}

#[test]
fn a_finding_says_what_requests_would_take_as_the_path_does() {
    let facts = facts(&asks(50));
    let diagnosis = whyslow_diagnose::diagnose(&facts);
    let found = diagnosis.findings.iter().find(|finding| finding.id == "slow-downstream").expect("a finding");
    let without = found.saving.without.as_ref().expect("a path of requests");
    assert_eq!(without.what, ["10.0.0.7:6379"]);
    let all = Explainer::new(&facts).all_without(&[&["10.0.0.7:6379"]]);
    assert_eq!((without.p50_ns, without.p50_then_ns), all[0].percentile(0.5));
    assert_eq!((without.p99_ns, without.p99_then_ns), all[0].percentile(0.99));
    assert!(
        without.p50_ns.or_zero() > 33_000_000 && without.p50_then_ns.or_zero() < 4_000_000,
        "{without:?}"
    );
    // Of a peer that is a small part of the time nothing is promised.
    assert!(
        diagnosis.findings.iter().all(|finding| finding.id == found.id || finding.saving.without.is_none())
    );
}
