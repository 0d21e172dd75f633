//! The time of all requests, and that of the slowest apart.

use super::*;
use whyslow_model::{Call, Event, Nanos, RequestsTime, Ret, Sink, TimeState, Timestamp};

const MS: u64 = 1_000_000;

fn call(facts: &mut Facts, name: &str, args: &str, from_ms: u64, ms: u64, ret: i64) {
    call_of(1, facts, name, args, from_ms, ms, ret);
}

fn call_of(tid: u32, facts: &mut Facts, name: &str, args: &str, from_ms: u64, ms: u64, ret: i64) {
    let mut call = Call::new(name, args);
    (call.tid, call.pid, call.ret) = (tid, Some(1), Ret::Value(ret));
    (call.ts, call.dur) = (Timestamp::new((1_000 + from_ms) * MS), Nanos::new(ms * MS));
    facts.push(Event::Call(&call));
}

/// So many requests a second apart; `slow` of them wait 500 ms for a peer.
fn served(count: u64, slow: u64) -> TimeAccount {
    let mut facts = Facts::default();
    serve(&mut facts, count, slow);
    facts.finish();
    account(&facts).expect("an account")
}

fn serve(facts: &mut Facts, count: u64, slow: u64) {
    call(facts, "socket", "AF_INET, SOCK_STREAM, IPPROTO_IP", 0, 0, 3);
    call(
        facts,
        "bind",
        "3, {sa_family=AF_INET, sin_port=htons(8080), sin_addr=inet_addr(\"0.0.0.0\")}, 16",
        1,
        0,
        0,
    );
    call(facts, "listen", "3, 128", 2, 0, 0);
    let client = "4<TCP:[10.0.0.1:8080->10.0.0.7:40000]>";
    let peer = "5<TCP:[10.0.0.1:50000->10.0.0.9:7001]>";
    for i in 0..count {
        let at = 1_000 * (i + 1);
        let from = "3, {sa_family=AF_INET, sin_port=htons(40000), sin_addr=inet_addr(\"10.0.0.7\")}, [128 => 16], SOCK_CLOEXEC";
        call(facts, "accept4", from, at, 1, 4);
        call(facts, "read", &format!("{client}, \"GET / HTTP/1.1\\r\\n\\r\\n\", 4096"), at + 2, 1, 18);
        let mut then = at + 10;
        if i >= count - slow {
            call(facts, "sendto", &format!("{peer}, \"q\", 1, 0, NULL, 0"), then, 1, 1);
            call(facts, "recvfrom", &format!("{peer}, \"a\", 4096, 0, NULL, NULL"), then + 1, 500, 1);
            then += 502;
        }
        let answer = format!("{client}, \"HTTP/1.1 200 OK\\r\\nContent-Length: 0\\r\\n\\r\\n\", 38");
        call(facts, "write", &answer, then, 1, 38);
        call(facts, "close", client, then + 2, 0, 0);
    }
}

#[test]
fn requests_that_take_next_to_nothing_are_not_what_a_busy_program_does() {
    let busy = |tid: u32, requests: u64, slow: u64, ms: u64| {
        let mut facts = Facts::default();
        serve(&mut facts, requests, slow);
        for at in 0..100 {
            call_of(
                tid,
                &mut facts,
                "fstat",
                "7, {st_mode=S_IFREG|0644, st_size=9, ...}",
                1_000 * (requests + 1) + at * (ms + 1),
                ms,
                0,
            );
        }
        facts.finish();
        account(&facts).expect("an account").of
    };
    assert_eq!((busy(1, 3, 0, 900), busy(2, 3, 0, 900)), (TimeOf::Threads, TimeOf::Threads));
    // They are as much of it.
    assert_eq!(busy(1, 3, 3, 1), TimeOf::Requests);
    // Many: what another thread does is no wait of theirs, what their own thread does else is.
    assert_eq!((busy(2, 20, 0, 900), busy(1, 20, 0, 900)), (TimeOf::Requests, TimeOf::Threads));
}

fn adds_up(time: &RequestsTime) {
    assert_eq!(time.parts.iter().map(|part| part.ns).sum::<u64>(), time.ns);
    assert!((time.parts.iter().map(|part| part.share).sum::<f64>() - 1.0).abs() < 1e-6);
}

#[test]
fn the_slowest_wait_for_something_else_than_most() {
    let account = served(200, 2);
    assert_eq!(account.of, TimeOf::Requests);
    assert_eq!(account.rows.iter().map(|row| row.ns).sum::<u64>(), account.ns);
    let [times] = &account.requests[..] else { panic!("one endpoint: {:?}", account.requests) };
    let slowest = times.slowest.as_ref().expect("the slowest");
    adds_up(&times.all);
    adds_up(slowest);
    assert_eq!((times.endpoint.as_str(), times.all.count, slowest.count), ("GET /", 200, 2));
    assert!(slowest.from_ns >= Nanos::new(500 * MS) && times.all.mean_ns < Nanos::new(20 * MS), "{times:?}");
    let most = &slowest.parts[0];
    assert_eq!((most.state, most.object.as_deref()), (TimeState::Peer, Some("10.0.0.9:7001")));
    assert!(times.words().starts_with("GET /: 200 requests, "), "{}", times.words());
    assert!(times.words().contains("; the slowest 2, "), "{}", times.words());
}

#[test]
fn of_a_few_requests_none_are_the_slowest_and_of_threads_there_are_none() {
    assert!(served(5, 1).requests[0].slowest.is_none());
    let mut facts = Facts::default();
    call(&mut facts, "fsync", "3</data/orders.db>", 0, 94, 0);
    call(&mut facts, "fsync", "3</data/orders.db>", 100, 94, 0);
    facts.finish();
    assert!(account(&facts).expect("an account").requests.is_empty());
}
