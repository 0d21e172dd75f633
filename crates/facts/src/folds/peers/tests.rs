//! Peers through a connection's life.

use super::{Role, host_of, port_of};
use crate::{Facts, PeerFacts};
use proptest::prelude::*;
use whyslow_model::{Call, Errno, Event, FdEntry, FdKind, Nanos, Ret, Sink, SocketEnds, Timestamp};

/// Milliseconds, call, arguments, result, duration in ms, note.
type Line<'a> = (u64, &'a str, &'a str, i64, u64, &'a str);

fn feed(facts: &mut Facts, lines: &[Line<'_>]) {
    for &(ms, name, args, ret, dur_ms, note) in lines {
        let mut call = Call::new(name, args);
        call.tid = 7;
        call.ts = Timestamp::new(ms * 1_000_000);
        call.dur = Nanos::new(dur_ms * 1_000_000);
        call.ret = Ret::Value(ret.max(-1));
        call.errno = if ret < 0 { Errno(-ret as u16) } else { Errno::NONE };
        call.ret_note = note.as_bytes();
        facts.push(Event::Call(&call));
    }
}

fn play(lines: &[Line<'_>]) -> Facts {
    let mut facts = Facts::default();
    feed(&mut facts, lines);
    facts.finish();
    facts
}

fn peer<'a>(facts: &'a Facts, name: &str) -> &'a PeerFacts {
    facts.peers.iter().find(|peer| &*peer.name == name).expect("the peer is known")
}

const SOCKET: Line<'_> = (0, "socket", "AF_INET, SOCK_STREAM, 0", 3, 0, "");
const TO_REDIS: &str = r#"3, {sa_family=AF_INET, sin_port=htons(6379), sin_addr=inet_addr("10.0.0.1")}, 16"#;
const ASK: &str = r#"3, "*2\r\n$3\r\nGET\r\n$1\r\na\r\n", 20, 0, NULL, 0"#;

#[test]
fn a_connection_with_one_request() {
    let facts = play(&[
        SOCKET,
        (1, "connect", TO_REDIS, 0, 2, ""),
        (4, "sendto", ASK, 20, 0, ""),
        (5, "recvfrom", r#"3, "$-1\r\n", 8192, 0, NULL, NULL"#, 5, 10, ""),
        (16, "close", "3", 0, 0, ""),
    ]);
    let redis = peer(&facts, "10.0.0.1:6379");
    assert_eq!((redis.role, redis.protocol), (Role::Server, Some("Redis")));
    assert_eq!((redis.opened, redis.closed, redis.requests, redis.requests_of_closed), (1, 1, 1, 1));
    assert_eq!(redis.connects.total(), Nanos::new(2_000_000));
    assert_eq!(redis.setup.total(), Nanos::new(3_000_000));
    assert_eq!(redis.answers.total(), Nanos::new(11_000_000));
    assert_eq!((redis.sent, redis.received), (20, 5));
    assert_eq!(redis.wait_ns, 12_000_000);
}

#[test]
fn a_connect_under_way_is_decided_by_so_error() {
    for (value, failed) in [("[111]", 1), ("[ECONNREFUSED]", 1), ("[0]", 0)] {
        let facts = play(&[
            SOCKET,
            (1, "connect", TO_REDIS, -115, 0, ""),
            (1, "poll", "[{fd=3, events=POLLOUT}], 1, 1000", 1, 40, "([{fd=3, revents=POLLOUT}])"),
            (41, "getsockopt", &format!("3, SOL_SOCKET, SO_ERROR, {value}, [4]"), 0, 0, ""),
            (42, "close", "3", 0, 0, ""),
        ]);
        let redis = peer(&facts, "10.0.0.1:6379");
        assert_eq!((redis.connects.count, redis.failed(), redis.opened), (1, failed, 1 - failed), "{value}");
        assert_eq!(redis.connects.total(), Nanos::new(40_000_000));
        assert_eq!(redis.main_failure(), (failed == 1).then_some(Errno::ECONNREFUSED));
    }
}

#[test]
fn a_connect_that_was_given_up_is_abandoned() {
    let facts = play(&[SOCKET, (1, "connect", TO_REDIS, -115, 0, ""), (1001, "close", "3", 0, 0, "")]);
    let redis = peer(&facts, "10.0.0.1:6379");
    assert_eq!((redis.connects.count, redis.abandoned.count), (0, 1));
    assert_eq!(redis.abandoned.total(), Nanos::from_secs(1));
}

#[test]
fn a_request_given_up_after_its_time_limit_is_unanswered() {
    let facts = play(&[
        SOCKET,
        (1, "connect", TO_REDIS, 0, 0, ""),
        (2, "sendto", ASK, 20, 0, ""),
        (3, "poll", "[{fd=3, events=POLLIN}], 1, 2000", 0, 2002, "(Timeout)"),
        (2006, "sendto", r#"3, "*1\r\n$4\r\nQUIT\r\n", 14, 0, NULL, 0"#, 14, 0, ""),
        (2007, "close", "3", 0, 0, ""),
    ]);
    let redis = peer(&facts, "10.0.0.1:6379");
    assert_eq!(redis.unanswered.count, 1);
    let longest = redis.unanswered.longest.as_ref().expect("the request is kept");
    assert_eq!((longest.asked.as_deref(), longest.waited), (Some("GET a"), Nanos::new(2_002_000_000)));
}

#[test]
fn an_answer_that_came_late_is_an_answer() {
    let facts = play(&[
        SOCKET,
        (1, "connect", TO_REDIS, 0, 0, ""),
        (2, "sendto", ASK, 20, 0, ""),
        (3, "poll", "[{fd=3, events=POLLIN}], 1, 500", 0, 500, "(Timeout)"),
        (504, "poll", "[{fd=3, events=POLLIN}], 1, 500", 1, 100, "([{fd=3, revents=POLLIN}])"),
        (605, "recvfrom", r#"3, "$-1\r\n", 8192, 0, NULL, NULL"#, 5, 0, ""),
        (606, "close", "3", 0, 0, ""),
    ]);
    assert_eq!(peer(&facts, "10.0.0.1:6379").unanswered.count, 0);
}

#[test]
fn a_dns_query_sent_again_was_not_answered() {
    let server = r#"3, {sa_family=AF_INET, sin_port=htons(53), sin_addr=inet_addr("10.0.0.53")}, 16"#;
    let query = r#"3, "\275\31\1\0\0\1\0\0\0\0\0\0\7example\3com\0\0\1\0\1", 29, MSG_NOSIGNAL, NULL, 0"#;
    let facts = play(&[
        (0, "socket", "AF_INET, SOCK_DGRAM|SOCK_CLOEXEC|SOCK_NONBLOCK, IPPROTO_IP", 3, 0, ""),
        (1, "connect", server, 0, 0, ""),
        (2, "sendto", query, 29, 0, ""),
        (3, "poll", "[{fd=3, events=POLLIN}], 1, 5000", 0, 5005, "(Timeout)"),
        (5010, "sendto", query, 29, 0, ""),
        (5011, "poll", "[{fd=3, events=POLLIN}], 1, 5000", 1, 20, "([{fd=3, revents=POLLIN}])"),
        (5032, "recvfrom", r#"3, "\275\31"..., 2048, 0, NULL, NULL"#, 45, 0, ""),
        (5033, "close", "3", 0, 0, ""),
    ]);
    let dns = peer(&facts, "10.0.0.53:53");
    assert_eq!((dns.protocol, dns.requests, dns.unanswered.count), (Some("DNS"), 2, 1));
    assert_eq!(dns.unanswered.longest.as_ref().and_then(|one| one.asked.as_deref()), Some("example.com"));
    assert_eq!(dns.connects.count, 0, "a datagram socket connects to nobody");
}

#[test]
fn a_datagram_whose_answer_nobody_asks_for_has_none() {
    let server = r#"3, {sa_family=AF_INET, sin_port=htons(8125), sin_addr=inet_addr("10.0.0.7")}, 16"#;
    let sent = r#"3, "jobs.done:1|c", 13, 0, NULL, 0"#;
    let all = |asks: bool| {
        let mut calls = vec![
            (0, "socket", "AF_INET, SOCK_DGRAM|SOCK_CLOEXEC, IPPROTO_IP", 3, 0, ""),
            (1, "connect", server, 0, 0, ""),
        ];
        for at in [2, 2_002, 4_002] {
            calls.push((at, "sendto", sent, 13, 0, ""));
            if asks {
                let waits = "[{fd=3, events=POLLIN}], 1, 1500";
                calls.push((at + 1, "poll", waits, 0, 1500, "(Timeout)"));
            }
        }
        calls.push((6_002, "close", "3", 0, 0, ""));
        peer(&play(&calls), "10.0.0.7:8125").unanswered.count
    };
    assert_eq!(all(false), 0, "a metric is sent every two seconds");
    assert_eq!(all(true), 3);
}

#[test]
fn the_ports_of_a_snapshot_tell_servers_from_clients() {
    let mut facts = Facts::default();
    for (fd, local, other, state) in [
        (4, "*:8715", None, "LISTEN"),
        (5, "10.0.0.2:8715", Some("10.0.0.9:20001"), "ESTABLISHED"),
        (6, "10.0.0.2:40112", Some("10.0.0.1:6379"), "ESTABLISHED"),
    ] {
        facts.push(Event::Fd(Box::new(FdEntry {
            pid: Some(7),
            fd: Some(fd),
            kind: FdKind::Tcp,
            ends: Some(SocketEnds { local: Some(local.into()), peer: other.map(str::to_string) }),
            state: Some(state.into()),
            ..FdEntry::default()
        })));
    }
    feed(
        &mut facts,
        &[
            (1, "read", r#"5, "GET / HTTP/1.1\r\n""#, 16, 0, ""),
            (2, "sendto", &ASK.replacen('3', "6", 1), 20, 0, ""),
        ],
    );
    facts.finish();
    assert_eq!(peer(&facts, "10.0.0.9").role, Role::Client);
    assert_eq!(peer(&facts, "10.0.0.1:6379").role, Role::Server);
}

#[test]
fn a_reused_number_is_another_connection() {
    let mut lines = Vec::new();
    for i in 0..50u64 {
        lines.push((i * 10, SOCKET.1, SOCKET.2, SOCKET.3, 0, ""));
        lines.push((i * 10 + 1, "connect", TO_REDIS, 0, 0, ""));
        lines.push((i * 10 + 2, "sendto", ASK, 20, 0, ""));
        lines.push((i * 10 + 3, "recvfrom", r#"3, "$-1\r\n", 8192, 0, NULL, NULL"#, 5, 0, ""));
        lines.push((i * 10 + 4, "close", "3", 0, 0, ""));
    }
    let facts = play(&lines);
    let redis = peer(&facts, "10.0.0.1:6379");
    assert_eq!((redis.opened, redis.closed, redis.requests_of_closed), (50, 50, 50));
}

#[test]
fn addresses_and_ports() {
    assert_eq!((port_of("[::1]:80"), host_of("[::1]:80")), (Some(80), "[::1]"));
    assert_eq!((port_of("/run/x:1"), host_of("/run/x:1")), (None, "/run/x:1"));
    assert_eq!((port_of("*:http"), host_of("10.0.0.1")), (None, "10.0.0.1"));
}

proptest! {
    #[test]
    fn any_arguments_are_survived(calls in prop::collection::vec((0usize..8, "\\PC{0,40}", -130i64..300), 0..60)) {
        let names = ["connect", "sendto", "recvfrom", "poll", "getsockopt", "close", "accept", "select"];
        let lines: Vec<_> = calls.iter().map(|(name, args, ret)| (1, names[*name], format!("3, {args}"), *ret)).collect();
        let lines: Vec<Line<'_>> = lines.iter().map(|(ms, name, args, ret)| (*ms, *name, args.as_str(), *ret, 1, "")).collect();
        let facts = play(&lines);
        for peer in facts.peers.iter() {
            prop_assert!(peer.closed <= peer.opened);
        }
    }
}

#[test]
fn a_connect_that_began_before_the_capture_is_known_once_its_peer_is() {
    let found_at = |host: &str, waited: u64, begin: &[Line<'_>]| {
        let peer_name =
            format!(r#"3, {{sa_family=AF_INET, sin_port=htons(6379), sin_addr=inet_addr("{host}")}}, [16]"#);
        let mut lines = begin.to_vec();
        lines.extend([
            (waited, "getsockopt", "3, SOL_SOCKET, SO_ERROR, [0], [4]", 0, 0, ""),
            (waited + 1, "getpeername", &peer_name, 0, 0, ""),
            (waited + 2, "sendto", ASK, 20, 0, ""),
        ]);
        let facts = play(&lines);
        let retries = &peer(&facts, &format!("{host}:6379")).syn_retries;
        (retries.found, retries.found_ns / 1_000_000)
    };
    let found = |waited, begin: &[Line<'_>]| found_at("127.0.0.1", waited, begin);
    let wait = |ms| [(0, "epoll_wait", "5, [{events=EPOLLOUT, data={u32=3, u64=3}}], 8, -1", 1, ms, "")];
    assert_eq!(found(870, &wait(870)), (1, 870));
    // The way to a far host may take as long.
    assert_eq!(found_at("10.0.0.1", 870, &wait(870)), (0, 0));
    assert_eq!(found(40, &wait(40)), (0, 0));
    // Somebody sent before: what was asked for is the result of something else.
    let used = [(0, "sendto", ASK, 20, 0, ""), (1, "poll", "[{fd=3, events=POLLOUT}], 1, 2000", 1, 900, "")];
    assert_eq!(found(902, &used), (0, 0));
}
