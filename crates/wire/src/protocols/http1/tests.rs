//! HTTP/1 as clients and servers speak it.

use super::*;
use crate::testing::{Answer, Ask, cut_anywhere, reduced, steps, talk, whole};
use proptest::prelude::*;

// In the form that curl 7.88 and Python's http.server use; written by hand.
const GET: &[u8] = b"GET /user/relations/123?full=1 HTTP/1.1\r\nHost: 127.0.0.1:8000\r\nUser-Agent: curl/7.88.1\r\nAccept: */*\r\n\r\n";
const FOUND: &[u8] = b"HTTP/1.0 200 OK\r\nServer: SimpleHTTP/0.6 Python/3.11.2\r\nContent-type: text/html\r\nContent-Length: 5\r\n\r\nhello";
const POST: &[u8] = b"POST /login HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n\r\nuser=a&pw=b";
const CHUNKS: &[u8] =
    b"HTTP/1.1 500 Oh\r\nTransfer-Encoding: gzip, chunked\r\n\r\n4\r\nabcd\r\n1;x\r\ne\r\n0\r\nA: b\r\n\r\n";
const HEAD: &[u8] = b"HEAD / HTTP/1.1\r\nHost: a\r\n\r\n";
const HEADED: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n";
const NOT_MODIFIED: &[u8] = b"HTTP/1.1 304 Not Modified\r\nContent-Length: 999\r\n\r\n";
const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

const TALK: &[(Direction, &[u8])] = &[
    (Ask, GET),
    (Answer, FOUND),
    (Ask, POST),
    (Answer, CONTINUE),
    (Answer, CHUNKS),
    (Ask, HEAD),
    (Answer, HEADED),
    (Ask, GET),
    (Answer, NOT_MODIFIED),
];

#[test]
fn turns() {
    assert_eq!(
        talk(&HTTP1, TALK),
        [
            "ask 0 GET /user/relations/{id}",
            "answer 0 200",
            "done 0",
            "ask 1 POST /login",
            "fail 1 500",
            "done 1",
            "ask 2 HEAD /",
            "answer 2 200",
            "done 2",
            "ask 3 GET /user/relations/{id}",
            "answer 3 304",
            "done 3",
        ]
    );
}

#[test]
fn several_in_a_chunk_are_answered_in_order() {
    let asks = [GET, POST, HEAD].concat();
    let answers = [FOUND, CHUNKS, HEADED].concat();
    assert_eq!(
        talk(&HTTP1, &[(Ask, &asks), (Answer, &answers)]),
        [
            "ask 0 GET /user/relations/{id}",
            "ask 1 POST /login",
            "ask 2 HEAD /",
            "answer 0 200",
            "done 0",
            "fail 1 500",
            "done 1",
            "answer 2 200",
            "done 2",
        ]
    );
}

#[test]
fn cut_heads_are_followed() {
    let mut http = Http1::default();
    let cut = |head: &'static str, len| Chunk { head: head.as_bytes(), len };
    let mut told = steps(&mut http, Ask, cut("GET /user/relations/123 HTTP/1.1", 300));
    told.extend(steps(&mut http, Answer, cut("HTTP/1.1 200 OK\r\nContent-Type: t", 4096)));
    told.extend(steps(&mut http, Answer, cut("<html> that goes on", 9000)));
    told.extend(steps(&mut http, Ask, cut("GET /feed HTTP/1.1\r\nHost: exampl", 300)));
    // An answer of which nothing is there.
    told.extend(steps(&mut http, Answer, cut("", 100)));
    told.extend(steps(&mut http, Ask, cut("GET /feed/and/a/path/that/goes/o", 300)));
    assert_eq!(
        told,
        [
            "ask 0 GET /user/relations/{id}",
            "answer 0 200",
            "done 0",
            "ask 1 GET /feed",
            "answer 1",
            "done 1",
            "ask 2 GET /feed/and/a/path/that/goes/…",
        ]
    );
}

#[test]
fn bodies_longer_than_the_chunk_end_where_they_say() {
    let mut http = Http1::default();
    steps(&mut http, Ask, whole(GET));
    let head = b"HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\nabc";
    let len = head.len() as u64 - 3 + 4_000;
    assert_eq!(steps(&mut http, Answer, Chunk { head, len }), ["answer 0 200"]);
    assert_eq!(steps(&mut http, Answer, Chunk { head: b"GET / HTTP/1.1", len: 5_999 }), [""; 0]);
    assert_eq!(steps(&mut http, Answer, Chunk { head: b"x", len: 1 }), ["done 0"]);
    // The body goes on in the middle of a chunk of a file that is sent: nothing of it is there.
    steps(&mut http, Ask, whole(GET));
    assert_eq!(steps(&mut http, Answer, whole(&head[..head.len() - 3])), ["answer 1 200"]);
    assert_eq!(steps(&mut http, Answer, Chunk { head: b"", len: 10_000 }), ["done 1"]);
}

#[test]
fn other_protocols_follow_an_upgrade() {
    let upgrade = b"GET /ws HTTP/1.1\r\nUpgrade: websocket\r\n\r\n";
    let switched = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n\x81\x05hello";
    assert_eq!(
        talk(&HTTP1, &[(Ask, upgrade), (Answer, switched), (Ask, GET)]),
        ["ask 0 GET /ws", "answer 0 101", "done 0"]
    );
    assert_eq!(
        talk(
            &HTTP1,
            &[(Ask, b"CONNECT a:443 HTTP/1.1\r\n\r\n"), (Answer, b"HTTP/1.1 200 OK\r\n\r\n"), (Ask, GET)]
        ),
        ["ask 0 CONNECT a:443", "answer 0 200", "done 0"]
    );
}

#[test]
fn begun_in_the_middle() {
    assert_eq!(
        talk(&HTTP1, &[(Answer, FOUND), (Ask, b"of a body"), (Answer, FOUND), (Ask, GET), (Answer, FOUND)]),
        ["ask 0 GET /user/relations/{id}", "answer 0 200", "done 0"]
    );
}

#[test]
fn who_is_asked_and_traced() {
    let id = "4bf92f3577b34da6a3ce929d0e0e4736";
    for (field, trace) in [
        (format!("traceparent: 00-{id}-00f067aa0ba902b7-01"), Some(id)),
        (format!("b3: {id}-00f067aa0ba902b7-1"), Some(id)),
        (format!("X-B3-TraceId: {}", &id[..16]), Some(&id[..16])),
        ("b3: 0".to_string(), None),
        (format!("traceparent: 00-{}-1-01", "0".repeat(32)), None),
    ] {
        let bytes = format!("GET http://me:pw@h:80/x/7 HTTP/1.1\r\nHost: other\r\n{field}\r\n\r\n");
        let request = crate::testing::first_request(&HTTP1, whole(bytes.as_bytes())).unwrap();
        assert_eq!(request.host.as_deref(), Some("h:80"));
        assert_eq!(request.trace_id.as_deref(), trace);
        assert_eq!((&*request.endpoint, &*request.detail), ("GET /x/{id}", "GET /x/7"));
        reduced(&HTTP1, Ask, bytes.as_bytes());
    }
}

#[test]
fn reduced_heads_tell_the_same() {
    let kept = reduced(&HTTP1, Ask, b"GET /user/7?token=abc&id=3 HTTP/1.1\r\nHost: example.org:80\r\nCookie: a=b\r\nContent-Length: 12\r\n\r\nx");
    assert_eq!(
        kept.escape_ascii().to_string(),
        r"GET /user/7?token=*&id=* HTTP/1.1\r\n:94\r\nContent-Length: 12\r\nHost: example.org:80\r\n"
    );
    for (direction, bytes) in TALK {
        reduced(&HTTP1, *direction, bytes);
    }
    for bytes in [
        "GET / HTTP/1.0\r\n\r\n",
        "POST /reset/9f8e7d6c5b4a39281706 HTTP/1.1\r\n",
        "GET /a/b;s=1",
        "GET /a/b.c",
    ] {
        reduced(&HTTP1, Ask, bytes.as_bytes());
    }
    // The whole talk, each chunk reduced, has the same steps.
    let mut http = Http1::default();
    let mut told = Vec::new();
    for (direction, bytes) in TALK {
        let head = reduced(&HTTP1, *direction, bytes);
        told.extend(steps(&mut http, *direction, Chunk { head: &head, len: bytes.len() as u64 }));
    }
    assert_eq!(told, talk(&HTTP1, TALK));
}

proptest! {
    #[test]
    fn chunks_make_no_difference(cuts in prop::collection::vec(1usize..40, 1..60)) {
        cut_anywhere(&HTTP1, TALK, &cuts);
    }
}
