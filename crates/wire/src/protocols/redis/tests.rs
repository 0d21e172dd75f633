//! Redis as clients and servers speak it.

use super::*;
use crate::testing::{Answer, Ask, cut_anywhere, reduced, steps, talk, whole};
use proptest::prelude::*;

// In the form that redis-cli 7.0 and redis-server 7.0 use; written by hand.
const HMGET: &[u8] = b"*3\r\n$5\r\nHMGET\r\n$26\r\nrelation:series:1234:check\r\n$12\r\nfollow_users\r\n";
const SET: &[u8] = b"*3\r\n$3\r\nSET\r\n$6\r\nuser:7\r\n$3\r\npwd\r\n";
const OK: &[u8] = b"+OK\r\n";
const WRONG: &[u8] = b"-WRONGTYPE Operation against a key holding the wrong kind of value\r\n";

const TALK: &[(Direction, &[u8])] = &[
    (Ask, b"*1\r\n$5\r\nMULTI\r\n"),
    (Answer, OK),
    (Ask, SET),
    (Answer, b"+QUEUED\r\n"),
    (Ask, b"*1\r\n$4\r\nEXEC\r\n"),
    (Answer, b"*2\r\n:1\r\n*1\r\n$-1\r\n"),
    (Ask, HMGET),
    (Answer, WRONG),
    (Ask, b"*2\r\n$3\r\nget\r\n$1\r\nx\r\n*1\r\n$4\r\nPING\r\n"),
    (Answer, b"$-1\r\n+PONG\r\n"),
    (Ask, b"PING\r\n"),
    (Answer, b"%1\r\n+a\r\n#t\r\n"),
];

#[test]
fn turns() {
    assert_eq!(
        talk(&REDIS, TALK),
        [
            "ask 0 MULTI",
            "answer 0 OK",
            "done 0",
            "ask 1 SET user:{…}",
            "answer 1 QUEUED",
            "done 1",
            "ask 2 EXEC",
            "answer 2 OK",
            "done 2",
            "ask 3 HMGET relation:series:{…}:check",
            "fail 3 WRONGTYPE",
            "done 3",
            "ask 4 GET x",
            "ask 5 PING",
            "answer 4 nil",
            "done 4",
            "answer 5 PONG",
            "done 5",
            "ask 6 PING",
            "answer 6 OK",
            "done 6",
        ]
    );
}

#[test]
fn what_is_cut_is_followed() {
    let mut redis = Redis::default();
    let cut = |head: &'static str, len| Chunk { head: head.as_bytes(), len };
    let mut told = steps(&mut redis, Ask, cut("*4\r\n$5\r\nHMGET\r\n$27\r\nrelation:ser", 90));
    told.extend(steps(&mut redis, Answer, cut("*3\r\n$1000\r\nabc", 900)));
    told.extend(steps(&mut redis, Answer, cut("$12345", 300)));
    told.extend(steps(&mut redis, Ask, cut("*2\r\n$3\r\nGET\r\n$9\r\nlong:", 30)));
    // A bulk string that goes on over chunks.
    told.extend(steps(&mut redis, Answer, cut("$10000\r\nabc", 4_000)));
    told.extend(steps(&mut redis, Answer, cut("+OK\r\n", 6_010 - 4_000)));
    told.extend(steps(&mut redis, Answer, cut("x", 4_000)));
    assert_eq!(
        told,
        ["ask 0 HMGET relation:…", "answer 0 OK", "done 0", "ask 1 GET long:…", "answer 1 OK", "done 1"]
    );
}

#[test]
fn messages_are_no_replies() {
    let subscribe = b"*3\r\n$9\r\nSUBSCRIBE\r\n$1\r\na\r\n$1\r\nb\r\n";
    let confirmed = b"*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n*3\r\n$9\r\nsubscribe\r\n$1\r\nb\r\n:2\r\n";
    let message = b"*3\r\n$7\r\nmessage\r\n$1\r\na\r\n$5\r\nhello\r\n";
    assert_eq!(
        talk(
            &REDIS,
            &[
                (Ask, subscribe),
                (Answer, confirmed),
                (Answer, message),
                (Ask, b"PING\r\n"),
                (Answer, message),
                (Answer, OK)
            ]
        ),
        ["ask 0 SUBSCRIBE a", "answer 0 OK", "done 0", "ask 1 PING", "answer 1 OK", "done 1"]
    );
    let push = b">2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\nx\r\n";
    assert_eq!(
        talk(&REDIS, &[(Ask, SET), (Answer, push), (Answer, OK)]),
        ["ask 0 SET user:{…}", "answer 0 OK", "done 0"]
    );
}

#[test]
fn a_value_of_megabytes_is_one_request() {
    let mut redis = Redis::default();
    let mut set = b"*3\r\n$3\r\nSET\r\n$1\r\na\r\n$2000000\r\n".to_vec();
    set.extend(std::iter::repeat_n(b'x', 500));
    assert_eq!(steps(&mut redis, Ask, whole(&set)), ["ask 0 SET a"]);
    assert_eq!(steps(&mut redis, Ask, Chunk { head: b"", len: 1_999_500 }), [""; 0]);
    assert_eq!(steps(&mut redis, Ask, whole(b"\r\n*1\r\n$4\r\nPING\r\n")), ["ask 1 PING"]);
}

#[test]
fn reduced_heads_tell_the_same() {
    let text = |direction, bytes: &[u8]| reduced(&REDIS, direction, bytes).escape_ascii().to_string();
    assert_eq!(text(Ask, SET), r"*3\r\n$3\r\nSET\r\n$6\r\nuser:7\r\n$3\r\n");
    assert_eq!(text(Ask, b"*2\r\n$4\r\nAUTH\r\n$6\r\nsecret\r\n"), r"*2\r\n$4\r\nAUTH\r\n$6\r\n");
    assert_eq!(
        text(Ask, b"*2\r\n$3\r\nGET\r\n$20\r\n9f8e7d6c5b4a39281706\r\n"),
        r"*3\r\n$3\r\nGET\r\n$1\r\n*\r\n$13\r\n"
    );
    assert_eq!(text(Answer, b"$5\r\nhello\r\n:1\r\n"), r"+OK\r\n+OK\r\n");
    assert_eq!(text(Answer, WRONG), r"-WRONGTYPE\r\n");
    let mut redis = Redis::default();
    let mut told = Vec::new();
    for (direction, bytes) in TALK {
        let head = reduced(&REDIS, *direction, bytes);
        told.extend(steps(&mut redis, *direction, Chunk { head: &head, len: bytes.len() as u64 }));
    }
    assert_eq!(told, talk(&REDIS, TALK));
    for cut in 12..HMGET.len() {
        let mut out = Vec::new();
        if (REDIS.reduce)(&HMGET[..cut], Ask, &mut out) {
            let of = |head| crate::testing::first_request(&REDIS, Chunk { head, len: HMGET.len() as u64 });
            assert_eq!(of(&out), of(&HMGET[..cut]), "{cut}: {}", out.escape_ascii());
        }
    }
}

#[test]
fn an_answer_is_no_command() {
    let mut out = Vec::new();
    assert!(!(REDIS.reduce)(b"*2\r\n$4\r\nname\r\n$6\r\nsecret\r\n", Ask, &mut out));
    assert_eq!(sniff(b"GET / HTTP/1.1\r\n", Ask), Sniff::Maybe);
    assert_eq!(sniff(b"EHLO x\r\n", Ask), Sniff::No);
    assert_eq!(sniff(HMGET, Ask), Sniff::Yes);
}

#[test]
fn what_is_cut_of_a_pipeline_is_unclear() {
    let mut redis = Redis::default();
    let get = b"*2\r\n$3\r\nGET\r\n$1\r\na\r\n";
    steps(&mut redis, Ask, whole(&get.repeat(4)));
    // The second reply is cut, but it tells its length; behind it there is a part of the third.
    let head = b"+OK\r\n$1000\r\nabc";
    let len = 5 + 7 + 1_002;
    assert_eq!(
        steps(&mut redis, Answer, Chunk { head, len: len + 3 }),
        ["answer 0 OK", "done 0", "answer 1 OK", "done 1", "answer 2"]
    );
    assert_eq!(steps(&mut redis, Ask, whole(get)), ["done 2", "unclear 3", "ask 4 GET a"]);
    assert_eq!(steps(&mut redis, Answer, whole(b"$-1\r\n")), ["answer 4 nil", "done 4"]);
    // All of them, one as long as it says.
    steps(&mut redis, Ask, whole(&get.repeat(2)));
    assert_eq!(
        steps(&mut redis, Answer, Chunk { head, len }),
        ["answer 5 OK", "done 5", "answer 6 OK", "done 6"]
    );
}

proptest! {
    #[test]
    fn chunks_make_no_difference(cuts in prop::collection::vec(1usize..40, 1..60)) {
        cut_anywhere(&REDIS, TALK, &cuts);
    }
}
