//! Requests through connections, threads and damage.

use super::{Ending, ParentBy, RequestRecord, Requests, Side};
use crate::{Facts, WaitKind};
use proptest::prelude::*;
use whyslow_model::{Call, Errno, Event, LeftAs, Nanos, Ret, Sink, Stretch, Timestamp};

/// Microseconds, thread, call, arguments, result (negative: an error), duration in µs.
type Line<'a> = (u64, u32, &'a str, &'a str, i64, u64);

fn play(lines: &[Line<'_>]) -> Facts {
    let mut facts = Facts::default();
    for &(us, tid, name, args, ret, dur_us) in lines {
        let mut call = Call::new(name, args);
        (call.tid, call.pid) = (tid, Some(7));
        call.ts = Timestamp::new(us * 1_000);
        call.dur = Nanos::new(dur_us * 1_000);
        call.ret = Ret::Value(ret.max(-1));
        call.errno = if ret < 0 { Errno(-ret as u16) } else { Errno::NONE };
        facts.push(Event::Call(&call));
    }
    facts.finish();
    facts
}

fn only(requests: &Requests) -> &RequestRecord {
    let all: Vec<_> = requests.records().collect();
    assert_eq!(all.len(), 1, "{all:#?}");
    all[0]
}

const ACCEPT: Line<'_> = (
    0,
    7,
    "accept4",
    r#"3, {sa_family=AF_INET, sin_port=htons(50001), sin_addr=inet_addr("10.0.0.9")}, [16], SOCK_CLOEXEC"#,
    5,
    10,
);
const SOCKET: Line<'_> = (1, 7, "socket", "AF_INET, SOCK_STREAM, 0", 6, 5);
const CONNECT: Line<'_> = (
    2,
    7,
    "connect",
    r#"6, {sa_family=AF_INET, sin_port=htons(6379), sin_addr=inet_addr("10.0.0.1")}, 16"#,
    0,
    50,
);

/// A server's request with one of its own to a Redis meanwhile.
fn sample() -> Facts {
    play(&[
        ACCEPT,
        SOCKET,
        CONNECT,
        (1_000, 7, "read", "5, 0x7f00, 8192", 100, 20),
        (2_000, 7, "write", "6, 0x7f00, 30", 30, 10),
        (2_100, 7, "poll", "[{fd=6, events=POLLIN}], 1, 2000", 1, 5_000),
        (7_200, 7, "read", "6, 0x7f00, 8192", 40, 10),
        (8_000, 7, "futex", "0x7f12, FUTEX_WAIT_PRIVATE, 2, NULL", 0, 1_000),
        (9_500, 7, "write", "5, 0x7f00, 200", 200, 30),
        (9_600, 7, "write", "5, 0x7f00, 50", 50, 30),
    ])
}

#[test]
fn a_turn_is_a_request_where_the_payload_is_not_seen() {
    let facts = sample();
    let requests = &facts.requests;
    let find = |side| requests.records().find(|record| record.side == side).unwrap();
    let (server, client) = (find(Side::Server), find(Side::Client));
    assert_eq!((server.number, client.number), (1, 2));
    assert_eq!((server.request_bytes, server.answer_bytes), (100, 250));
    assert_eq!(server.begin, Timestamp::new(1_000_000));
    assert_eq!(server.first_byte, Timestamp::new(9_500_000));
    assert_eq!(server.dur, Nanos::new(8_630_000));
    assert_eq!(server.ending, Ending::Answered);
    assert_eq!(server.peer.as_deref(), Some("10.0.0.9:50001"));
    assert_eq!((client.begin, client.dur), (Timestamp::new(2_000_000), Nanos::new(5_210_000)));
    assert_eq!(client.parent, Some((1, ParentBy::Thread)));
    assert_eq!(server.downstream.len(), 1);
    assert_eq!((server.downstream[0].count, server.downstream[0].ns), (1, 5_210_000));
    let split = server.split.unwrap();
    assert_eq!(split.total_ns(), 8_630_000);
    assert_eq!(split.waiting_ns[WaitKind::Poll as usize], 5_000_000);
    assert_eq!(split.waiting_ns[WaitKind::Lock as usize], 1_000_000);
    assert_eq!(split.waiting_ns[WaitKind::Network as usize], 100_000);
    assert_eq!(&*requests.endpoint(server.endpoint).unwrap().name, "unknown");
    assert_eq!(server.first_line.ts, Timestamp::new(1_000_000));
    assert_eq!(server.last_line.as_ref().unwrap().ts, Timestamp::new(9_600_000));
}

#[test]
fn a_read_that_waited_for_the_request_is_not_part_of_it() {
    let facts = play(&[
        ACCEPT,
        (1_000, 7, "read", "5, 0x7f00, 8192", 100, 3_000_000),
        (3_002_000, 7, "write", "5, 0x7f00, 200", 200, 10),
    ]);
    let record = only(&facts.requests);
    assert_eq!((record.begin, record.dur), (Timestamp::new(3_001_000_000), Nanos::new(1_010_000)));
    assert_eq!(record.split.unwrap().between_ns, 1_000_000);
}

#[test]
fn what_tls_hides_is_unknown_and_its_handshake_is_no_request() {
    let facts = play(&[
        ACCEPT,
        (1_000, 7, "read", r#"5, "\26\3\1\2\0\1\0", 8192"#, 517, 20),
        (1_100, 7, "write", r#"5, "\26\3\3\0z\2\0", 1300"#, 1300, 20),
        (1_200, 7, "read", r#"5, "\24\3\3\0\1\1\27\3\3\0E", 8192"#, 80, 20),
        (1_300, 7, "write", r#"5, "\27\3\3\0\377", 255"#, 255, 20),
        (2_000, 7, "read", r#"5, "\27\3\3\0\30", 5"#, 5, 20),
        (2_100, 7, "read", r#"5, "\231\3\201", 24"#, 24, 20),
        (5_000, 7, "write", r#"5, "\27\3\3\1\0", 300"#, 300, 20),
        (9_000, 7, "close", "5", 0, 5),
    ]);
    let record = only(&facts.requests);
    assert_eq!((record.begin, record.dur), (Timestamp::new(2_000_000), Nanos::new(3_020_000)));
    assert_eq!(record.request_bytes, 29);
    assert_eq!(facts.requests.endpoint(record.endpoint).unwrap().protocol, Some("TLS"));
}

#[test]
fn another_thread_may_answer_and_its_own_questions_belong_to_the_request() {
    let facts = play(&[
        ACCEPT,
        SOCKET,
        CONNECT,
        (500, 8, "write", "6, 0x7f00, 30", 30, 10),
        (600, 8, "read", "6, 0x7f00, 8192", 40, 10),
        (1_000, 7, "read", "5, 0x7f00, 8192", 100, 20),
        (2_000, 8, "write", "6, 0x7f00, 30", 30, 10),
        (2_100, 8, "read", "6, 0x7f00, 8192", 40, 3_000),
        (5_200, 8, "write", "6, 0x7f00, 30", 30, 10),
        (5_300, 8, "read", "6, 0x7f00, 8192", 40, 10),
        (5_350, 8, "close", "6", 0, 5),
        (5_400, 8, "write", "5, 0x7f00, 200", 200, 30),
    ]);
    let server = facts.requests.records().find(|record| record.side == Side::Server).unwrap();
    assert_eq!((server.tid, server.answered_by), (7, Some(8)));
    assert_eq!(server.split, None);
    assert_eq!(server.downstream[0].count, 2);
    let row = facts.requests.endpoint(server.endpoint).unwrap();
    assert_eq!((row.handed_over, row.stats.count), (1, 1));
    let parents: Vec<_> = facts
        .requests
        .records()
        .filter(|record| record.side == Side::Client)
        .map(|record| record.parent)
        .collect();
    assert_eq!(parents.iter().filter(|parent| **parent == Some((2, ParentBy::HandOver))).count(), 2);
    assert_eq!(parents.len(), 3);
}

#[test]
fn a_thread_with_two_requests_asks_for_the_one_that_it_read_last() {
    let second = (
        100,
        7,
        "accept4",
        r#"3, {sa_family=AF_INET, sin_port=htons(50002), sin_addr=inet_addr("10.0.0.9")}, [16], 0"#,
        8,
        10,
    );
    let facts = play(&[
        ACCEPT,
        SOCKET,
        CONNECT,
        second,
        (1_000, 7, "read", "5, 0x7f00, 8192", 100, 20),
        (1_100, 7, "read", "8, 0x7f00, 8192", 100, 20),
        (2_000, 7, "write", "6, 0x7f00, 30", 30, 10),
        (2_100, 7, "read", "6, 0x7f00, 8192", 40, 10),
        (3_000, 7, "write", "5, 0x7f00, 200", 200, 30),
        (3_100, 7, "write", "8, 0x7f00, 200", 200, 30),
    ]);
    let parents: Vec<_> = facts.requests.records().filter_map(|record| record.parent).collect();
    // By its turn, which is not sure.
    assert_eq!(parents, [(2, ParentBy::Turn)]);
}

#[test]
fn gone_clients_and_open_requests() {
    let answered: [Line<'_>; 2] =
        [(500, 7, "read", "5, 0x7f00, 8192", 90, 20), (600, 7, "write", "5, 0x7f00, 10", 10, 20)];
    let ask = (1_000, 7, "read", "5, 0x7f00, 8192", 100, 20);
    let gone = (9_000, 7, "write", "5, 0x7f00, 200", -32, 10);
    let facts = play(&[ACCEPT, answered[0], answered[1], ask, gone]);
    let aborted = facts.requests.records().find(|record| record.number == 2).unwrap();
    assert_eq!((aborted.ending, aborted.dur), (Ending::Aborted, Nanos::new(8_010_000)));
    assert!(aborted.failed());
    assert_eq!(facts.requests.endpoints()[0].stats.errors, 1);

    let later = (500_000, 7, "getpid", "", 7, 1);
    let facts = play(&[ACCEPT, answered[0], answered[1], ask, later]);
    assert_eq!(facts.requests.open().len(), 1);
    assert_eq!(facts.requests.open()[0].dur, Nanos::new(499_001_000));
    assert_eq!((facts.requests.endpoints()[0].stats.count, facts.requests.endpoints()[0].open), (1, 1));
}

#[test]
fn a_socket_that_is_only_written_to_is_asked_nothing() {
    let log = r#"6, {sa_family=AF_UNIX, sun_path="/dev/log"}, 110"#;
    let facts = play(&[
        (1, 7, "socket", "AF_UNIX, SOCK_STREAM, 0", 6, 5),
        (2, 7, "connect", log, 0, 50),
        (10, 7, "sendto", r#"6, "<14>one", 7, 0, NULL, 0"#, 7, 5),
        (20, 7, "sendto", r#"6, "<14>two", 7, 0, NULL, 0"#, 7, 5),
        (30, 7, "close", "6", 0, 5),
    ]);
    assert_eq!((facts.requests.count(), facts.requests.records().count()), (0, 0));
}

proptest! {
    #[test]
    fn any_calls_are_survived_and_the_sums_hold(
        calls in prop::collection::vec((0usize..8, 3i32..9, 7u32..10, -2i64..300, 0u64..3_000), 1..200),
    ) {
        let mut lines = vec![ACCEPT, SOCKET, CONNECT];
        let args: Vec<String> = calls.iter().map(|(what, fd, ..)| match what {
            0 | 1 => format!(r#"{fd}, "GET /a/{fd} HTTP/1.1\r\n\r\n", 8192"#),
            2 => format!("{fd}, 0x7f00, 8192"),
            3 => format!(r#"{fd}, "\27\3\3\0\30", 5"#),
            _ => format!("{fd}"),
        }).collect();
        for (at, (what, _, tid, ret, dur)) in calls.iter().enumerate() {
            let name = ["read", "write", "read", "write", "close", "dup", "fsync", "accept"][*what];
            let ret = if *ret < 0 { [-32, -104][(-*ret - 1) as usize] } else { *ret };
            let ret = if matches!(name, "dup" | "accept") { ret % 9 } else { ret };
            lines.push((1_000 + at as u64 * 700, *tid, name, &args[at], ret, *dur));
        }
        let facts = play(&lines);
        let requests = &facts.requests;
        let ended: u64 = requests.endpoints().iter().map(|row| row.stats.count).sum();
        let open: u64 = requests.endpoints().iter().map(|row| row.open).sum();
        prop_assert_eq!(ended + open, requests.count());
        prop_assert_eq!(requests.peers().map(|(.., group)| group.stats.count).sum::<u64>(), ended);
        prop_assert_eq!(requests.threads().map(|(.., group)| group.stats.count).sum::<u64>(), ended);
        for record in requests.records() {
            if let Some(split) = record.split {
                prop_assert_eq!(Nanos::new(split.total_ns()), record.dur);
            }
            let asked: u64 = record.downstream.iter().map(|part| part.ns).sum();
            prop_assert!(record.ending == Ending::Open || asked <= record.dur.get().unwrap_or(u64::MAX));
        }
    }
}

#[test]
fn what_ran_through_a_call_that_may_wait_is_work() {
    let mut facts = Facts::default();
    let us = |us: u64| Timestamp::new(us * 1_000);
    let left = |at: u64| {
        Event::Stretch(Stretch {
            ts: us(at - 10),
            cpu: 0,
            pid: 7,
            tid: 7,
            left_as: LeftAs::Sleeping,
            on_cpu: Nanos::new(10_000),
            runnable: Nanos::ZERO,
            blocked: Nanos::ZERO,
        })
    };
    let mut call = |(at, tid, name, args, ret, dur): Line<'_>, slept: Option<u64>| {
        if let Some(at) = slept {
            facts.push(left(at));
        }
        let mut call = Call::new(name, args);
        (call.tid, call.pid, call.ts) = (tid, Some(7), us(at));
        (call.dur, call.ret) = (Nanos::new(dur * 1_000), Ret::Value(ret));
        facts.push(Event::Call(&call));
    };
    call(ACCEPT, None);
    call((500, 7, "epoll_wait", "4, [], 8, 9000", 1, 400), Some(600));
    call((1_000, 7, "read", r#"5, "GET / HTTP/1.1\r\n\r\n", 8192"#, 18, 20), None);
    call((2_000, 7, "write", "6, 0x7f00, 30", 30, 10), None);
    call((3_000, 7, "futex", "0x7f12, FUTEX_WAIT_PRIVATE, 2, NULL", 0, 300), Some(3_100));
    call((4_000, 7, "write", r#"5, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 38"#, 38, 40), None);
    facts.finish();
    let record = only(&facts.requests);
    let split = record.split.expect("one thread, one request");
    assert_eq!(split.waiting_ns[WaitKind::Network as usize], 0, "{split:?}");
    assert_eq!(split.waiting_ns[WaitKind::Lock as usize], 300_000);
    assert_eq!(split.total_ns(), record.dur.get().unwrap());
    // Both reads and writes of sockets; that of descriptor 6 is of an unknown kind and works in any case.
    assert_eq!(split.working_ns, 70_000);
}

/// Thread 7 reads a request and hands it to thread 8 by a condition at 0x10; that one asks a Redis and hands back at 0x20.
/// `between` is what else happens to thread 8.
fn helped(between: &[Line<'_>]) -> Facts {
    let mut lines = vec![
        ACCEPT,
        SOCKET,
        CONNECT,
        (1_000, 7, "read", r#"5, "GET /a HTTP/1.1\r\nHost: x\r\n\r\n", 8192"#, 28, 20),
        (2_000, 7, "futex", "0x10, FUTEX_WAKE_PRIVATE, 1", 1, 5),
        (100, 8, "futex", "0x10, FUTEX_WAIT_PRIVATE, 0, NULL", 0, 1_910),
    ];
    lines.extend_from_slice(between);
    lines.extend_from_slice(&[
        (20_000, 8, "sendto", r#"6, "*2\r\n$3\r\nGET\r\n$1\r\nk\r\n", 20, 0, NULL, 0"#, 20, 10),
        (20_100, 8, "recvfrom", r#"6, "$1\r\nv\r\n", 8192, 0, NULL, NULL"#, 7, 5_000),
        (26_000, 8, "futex", "0x20, FUTEX_WAKE_PRIVATE, 1", 1, 5),
        (2_100, 7, "futex", "0x20, FUTEX_WAIT_PRIVATE, 0, NULL", 0, 23_950),
        (27_000, 7, "write", r#"5, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 38"#, 38, 10),
    ]);
    play(&lines)
}

#[test]
fn a_helper_asks_for_the_request_of_the_thread_that_waits_for_it() {
    let facts = helped(&[]);
    let find = |side| facts.requests.records().find(|record| record.side == side).unwrap();
    let (server, client) = (find(Side::Server), find(Side::Client));
    assert_eq!(client.parent, Some((server.number, ParentBy::Helper)));
    assert_eq!((server.downstream.len(), server.downstream[0].count), (1, 1));
}

#[test]
fn who_was_given_work_by_others_too_asks_for_nobody_known() {
    let by_another: [Line<'_>; 2] = [
        (5_000, 9, "futex", "0x10, FUTEX_WAKE_PRIVATE, 1", 1, 5),
        (3_000, 8, "futex", "0x10, FUTEX_WAIT_PRIVATE, 0, NULL", 0, 2_010),
    ];
    // Who woke it is not in the capture.
    let by_nobody = [(3_000, 8, "futex", "0x30, FUTEX_WAIT_PRIVATE, 0, NULL", 0, 2_010)];
    for between in [&by_another[..], &by_nobody[..]] {
        let facts = helped(between);
        let client = facts.requests.records().find(|record| record.side == Side::Client).unwrap();
        assert_eq!(client.parent, None);
    }
}

/// The sides of all connections that have requests.
fn sides(lines: &[Line<'_>]) -> Vec<(Side, Box<str>, u64)> {
    let facts = play(lines);
    facts.requests.endpoints().iter().map(|row| (row.side, row.name.clone(), row.stats.count)).collect()
}

#[test]
fn what_a_thread_sends_elsewhere_while_it_serves_is_a_question() {
    let lines = [
        (0, 7, "recvfrom", r#"5, "GET /page/7 HTTP/1.1\r\nHost: a\r\n\r\n", 8192, 0, NULL, NULL"#, 33, 10),
        (100, 7, "sendto", r#"9, "stock 7\n", 8, 0, NULL, 0"#, 8, 10),
        (200, 7, "recvfrom", r#"9, "12\n", 8192, 0, NULL, NULL"#, 3, 40_000),
        (50_000, 7, "sendto", r#"5, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 38, 0, NULL, 0"#, 38, 10),
    ];
    let found = sides(&lines);
    assert!(found.contains(&(Side::Client, "unknown".into(), 1)), "{found:?}");
    assert!(found.iter().any(|(side, ..)| *side == Side::Server), "{found:?}");
}

#[test]
fn who_asks_in_an_unknown_protocol_gets_more_than_he_sends() {
    let turns = |sent: i64, received: i64| {
        let mut lines: Vec<Line<'_>> = Vec::new();
        for turn in 0..12 {
            lines.push((turn * 100_000, 7, "sendto", r#"4, "ask 1\n", 6, 0, NULL, 0"#, sent, 10));
            lines.push((
                turn * 100_000 + 100,
                7,
                "recvfrom",
                r#"4, "one", 8192, 0, NULL, NULL"#,
                received,
                50_000,
            ));
        }
        sides(&lines).into_iter().map(|(side, ..)| side).collect::<Vec<_>>()
    };
    assert_eq!(turns(18, 300), [Side::Client]);
    assert_eq!(turns(300, 18), [Side::Server]);
    // Nothing tells.
    assert!(turns(100, 120).is_empty());
}

#[test]
fn of_many_requests_what_is_asked_is_for_the_one_that_was_read_last() {
    let get = r#"GET /shop/1 HTTP/1.1\r\nHost: a\r\n\r\n"#;
    let ok = r#"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"#;
    let of = |fd: i32, text: &str, limit: &str| format!("{fd}, \"{text}\", {limit}, 0, NULL, NULL");
    let (a, b) = (of(11, get, "8192"), of(12, get, "8192"));
    let (asks_a, asks_b) = (of(14, get, "33"), of(15, get, "33"));
    let (answer_a, back_a) = (of(14, ok, "8192"), of(11, ok, "38"));
    let facts = play(&[
        (0, 7, "recvfrom", &a, 33, 10),
        (100, 7, "sendto", &asks_a, 33, 10),
        (200, 7, "recvfrom", &b, 33, 10),
        (300, 7, "sendto", &asks_b, 33, 10),
        (40_000, 7, "recvfrom", &answer_a, 38, 10),
        (40_100, 7, "sendto", &back_a, 38, 10),
    ]);
    let asked: Vec<_> = facts.requests.records().filter(|record| record.side == Side::Client).collect();
    let parents: Vec<_> = asked.iter().filter_map(|record| record.parent).collect();
    assert!(parents.contains(&(1, ParentBy::Thread)), "{asked:#?}");
    assert!(parents.contains(&(3, ParentBy::Turn)), "{asked:#?}");
}

/// A second client, on descriptor 8.
const SECOND: Line<'_> = (
    100,
    7,
    "accept4",
    r#"3, {sa_family=AF_INET, sin_port=htons(50002), sin_addr=inet_addr("10.0.0.9")}, [16], 0"#,
    8,
    10,
);

/// The ends, sides and times (ms) of what counts.
fn counted(facts: &Facts) -> Vec<(Side, u64, u64)> {
    let rows = facts.requests.endpoints().iter();
    rows.filter(|row| row.stats.count + row.open > 0)
        .map(|row| (row.side, row.stats.count, row.stats.max().or_zero() / 1_000_000))
        .collect()
}

#[test]
fn an_answered_turn_leaves_its_thread_to_the_next_client() {
    let mut lines = vec![ACCEPT, SOCKET, CONNECT, SECOND];
    for turn in 0..4u64 {
        for (fd, at) in [("5", 1_000), ("8", 6_000)] {
            let at = turn * 20_000 + at;
            let fd = if fd == "5" { "5, 0x7f00, 8192" } else { "8, 0x7f00, 8192" };
            lines.extend([
                (at, 7, "read", fd, 100, 20),
                (at + 100, 7, "write", "6, 0x7f00, 30", 30, 10),
                (at + 200, 7, "read", "6, 0x7f00, 8192", 40, 2_000),
                (at + 3_000, 7, "write", fd, 200, 10),
            ]);
        }
    }
    let facts = play(&lines);
    assert_eq!(counted(&facts), [(Side::Server, 8, 3), (Side::Client, 8, 2)]);
    let of_client = facts.requests.records().filter(|record| record.side == Side::Client);
    assert!(
        of_client.map(|record| record.parent).all(|parent| matches!(parent, Some((_, ParentBy::Thread))))
    );
    let row = facts.requests.endpoints().iter().find(|row| row.side == Side::Server).unwrap();
    assert_eq!((row.split_count, row.downstream[0].count, row.downstream[0].trips), (8, 8, 8));
}

/// An event loop with two requests in hand, which waits before it asks somebody `ask` bytes for one of them.
fn in_a_loop(first: i64, second: i64, ask: i64) -> (Option<(u64, ParentBy)>, u64) {
    let facts = play(&[
        ACCEPT,
        SOCKET,
        CONNECT,
        SECOND,
        (1_000, 7, "read", "5, 0x7f00, 8192", first, 20),
        (1_100, 7, "read", "8, 0x7f00, 8192", second, 20),
        (1_200, 7, "epoll_wait", "4, [], 8, 9000", 1, 400),
        (2_000, 7, "write", "6, 0x7f00, 30", ask, 10),
        (2_100, 7, "read", "6, 0x7f00, 8192", 40, 10),
        (3_000, 7, "write", "5, 0x7f00, 200", 200, 30),
        (3_100, 7, "write", "8, 0x7f00, 200", 200, 30),
    ]);
    let asked = facts.requests.records().find(|record| record.side == Side::Client).unwrap();
    let rows = facts.requests.endpoints().iter();
    (asked.parent, rows.map(|row| row.ambiguous).sum())
}

#[test]
fn what_an_event_loop_asks_is_for_one_request_only_where_that_is_sure() {
    assert_eq!(in_a_loop(100, 100, 30), (None, 1));
    // A proxy hands on as many bytes as it got.
    assert_eq!(in_a_loop(100, 64, 100), (Some((1, ParentBy::Turn)), 0));
    assert_eq!(in_a_loop(64, 64, 64), (None, 1));
}

#[test]
fn a_connection_made_for_a_request_asks_for_it() {
    let facts = play(&[
        ACCEPT,
        SECOND,
        (1_000, 7, "read", "5, 0x7f00, 8192", 100, 20),
        (1_010, 7, "socket", "AF_INET, SOCK_STREAM, 0", 6, 5),
        (
            1_020,
            7,
            "connect",
            r#"6, {sa_family=AF_INET, sin_port=htons(6379), sin_addr=inet_addr("10.0.0.1")}, 16"#,
            -115,
            50,
        ),
        (1_100, 7, "read", "8, 0x7f00, 8192", 100, 20),
        (1_200, 7, "epoll_wait", "4, [], 8, 9000", 1, 400),
        (2_000, 7, "write", "6, 0x7f00, 30", 30, 10),
        (2_100, 7, "read", "6, 0x7f00, 8192", 40, 10),
        (3_000, 7, "write", "5, 0x7f00, 200", 200, 30),
    ]);
    let asked = facts.requests.records().find(|record| record.side == Side::Client).unwrap();
    assert_eq!(asked.parent, Some((1, ParentBy::Turn)));
}

#[test]
fn feeds_heartbeats_and_farewells_are_no_requests() {
    let connected = [SOCKET, CONNECT];
    let subscription = (0..40).map(|at| (200_000 * at + 100_000, 7, "read", "6, 0x7f00, 8192", 30, 90_000));
    let subscription =
        connected.into_iter().chain([(1_000, 7, "write", "6, 0x7f00, 9", 9, 5)]).chain(subscription);
    let heartbeats = (0..9).map(|at| (1_000_000 * at + 1_000, 7, "write", "6, 0x7f00, 2", 2, 5));
    let heartbeats = connected.into_iter().chain(heartbeats);
    let farewell = [
        ACCEPT,
        (1_000, 7, "read", "5, 0x7f00, 8192", 9, 20),
        (2_000, 7, "write", "5, 0x7f00, 9", 9, 20),
        (9_000, 7, "read", "5, 0x7f00, 8192", 4, 20),
        (9_100, 7, "read", "5, 0x7f00, 8192", 0, 20),
        (9_200, 7, "close", "5", 0, 5),
    ];
    let feed = play(&subscription.collect::<Vec<_>>());
    assert!(counted(&feed).is_empty(), "{:?}", counted(&feed));
    assert!(feed.requests.streams(Side::Client, None, "10.0.0.1:6379").is_stream());
    assert_eq!(feed.requests.count(), 0);
    assert!(counted(&play(&heartbeats.collect::<Vec<_>>())).is_empty());
    let facts = play(&farewell);
    assert_eq!(counted(&facts), [(Side::Server, 1, 1)]);
    assert_eq!(facts.requests.endpoints()[0].aborted, 0);
}

#[test]
fn a_message_of_another_client_is_no_answer() {
    let mut lines = vec![ACCEPT, SECOND];
    for turn in 0..5u64 {
        let at = turn * 2_000_000;
        lines.extend([
            (at + 1_000, 7, "read", "5, 0x7f00, 8192", 9, 20),
            (at + 900_000, 7, "read", "8, 0x7f00, 8192", 40, 20),
            (at + 900_100, 7, "write", "5, 0x7f00, 40", 40, 20),
            (at + 900_200, 7, "write", "8, 0x7f00, 4", 4, 20),
        ]);
    }
    let facts = play(&lines);
    assert_eq!(counted(&facts), [(Side::Server, 5, 0)]);
    assert_eq!(facts.requests.streams(Side::Server, None, "10.0.0.9").streams, 1);
}
