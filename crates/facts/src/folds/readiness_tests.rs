//! Polls that spin, and those that only look like it.

use crate::Facts;
use whyslow_model::{Call, Event, Nanos, Ret, Sink, Timestamp};

fn push(facts: &mut Facts, at_us: u64, name: &str, args: &str, ret: i64, note: &str) {
    let mut call = Call::new(name, args);
    call.tid = 7;
    call.ts = Timestamp::new(at_us * 1_000);
    call.dur = Nanos::new(5_000);
    call.ret = Ret::Value(ret);
    call.ret_note = note.as_bytes();
    facts.push(Event::Call(&call));
}

#[test]
fn a_set_that_nobody_touches_spins_in_any_order_and_form() {
    for sets in [
        ["5, [{events=EPOLLIN, data={u32=20, u64=20}}, {events=EPOLLHUP, data={u32=26, u64=26}}], 32, 998";
            2],
        [
            "5, [{EPOLLIN, {u32=20, u64=20}}, {EPOLLHUP, {u32=26, u64=26}}], 32, 998",
            "5, [{EPOLLHUP, {u32=26, u64=26}}, {EPOLLIN, {u32=20, u64=20}}], 32, 997",
        ],
        [
            "4, {{EPOLLIN, {u32=20, u64=20}}, {EPOLLHUP, {u32=26, u64=26}}}, 32, 998",
            "4, {{EPOLLHUP, {u32=26, u64=26}}, {EPOLLIN, {u32=20, u64=20}}}, 32, 998",
        ],
    ] {
        let mut facts = Facts::default();
        for i in 0..100 {
            push(&mut facts, i * 100, "epoll_wait", sets[i as usize % 2], 2, "");
            push(&mut facts, i * 100 + 50, "clock_gettime", "CLOCK_MONOTONIC, {tv_sec=1, tv_nsec=2}", 0, "");
        }
        assert_eq!(facts.readiness.spins.len(), 1, "{sets:?}");
        let spin = &facts.readiness.spins[0];
        assert_eq!((spin.laps.turns, spin.laps.calls, spin.ready.len()), (98, 196, 2));
        assert!(spin.hung_up() && !spin.only_writable());
        assert_eq!(spin.laps.per_second(), Some(10_000.0));
    }
}

#[test]
fn a_set_that_is_read_is_none() {
    let mut facts = Facts::default();
    for i in 0..100 {
        push(
            &mut facts,
            i * 100,
            "epoll_wait",
            "5, [{events=EPOLLIN, data={u32=20, u64=20}}], 32, -1",
            1,
            "",
        );
        push(&mut facts, i * 100 + 50, "read", "20, \"x\", 1", 1, "");
    }
    // The token is no descriptor: epoll_ctl tells which one it is.
    push(
        &mut facts,
        20_000,
        "epoll_ctl",
        "5, EPOLL_CTL_ADD, 21, {events=EPOLLIN, data={u32=9, u64=9}}",
        0,
        "",
    );
    for i in 300..400 {
        push(&mut facts, i * 100, "epoll_wait", "5, [{events=EPOLLIN, data={u32=9, u64=9}}], 32, -1", 1, "");
        push(&mut facts, i * 100 + 50, "getsockopt", "21, SOL_SOCKET, SO_ERROR, [0], [4]", 0, "");
    }
    // Ready now and then, though never read.
    for i in 10..100 {
        push(
            &mut facts,
            i * 10_000,
            "poll",
            "[{fd=3, events=POLLIN}], 1, -1",
            1,
            "([{fd=3, revents=POLLIN}])",
        );
    }
    assert!(facts.readiness.spins.is_empty(), "{:?}", facts.readiness.spins);
}

#[test]
fn poll_and_select_tell_their_descriptors() {
    let mut facts = Facts::default();
    for i in 0..10 {
        push(
            &mut facts,
            i * 100,
            "poll",
            "[{fd=3, events=POLLOUT}], 1, -1",
            1,
            "([{fd=3, revents=POLLOUT}])",
        );
    }
    for i in 20..30 {
        push(
            &mut facts,
            i * 100,
            "select",
            "8, [5 7], [6], NULL, {tv_sec=1, tv_usec=0}",
            2,
            "(in [5], out [6], left {tv_sec=0, tv_usec=9})",
        );
    }
    assert_eq!(facts.readiness.spins.len(), 2);
    assert!(facts.readiness.spins[0].only_writable());
    let fds: Vec<_> = facts.readiness.spins[1].ready.iter().map(|one| (one.fd, &*one.events)).collect();
    assert_eq!(fds, [(Some(5), "in"), (Some(6), "out")]);
}

#[test]
fn empty_polls_without_a_wait_are_turns() {
    let mut facts = Facts::default();
    for i in 0..100 {
        push(&mut facts, i * 100, "epoll_wait", "5, [], 32, 0", 0, "");
    }
    let row = &facts.readiness.zero_timeouts[0];
    assert_eq!((row.polls, row.empty, row.laps.turns), (100, 100, 99));
    // Work in between.
    let mut facts = Facts::default();
    for i in 0..100 {
        push(&mut facts, i * 100, "poll", "[{fd=3, events=POLLIN}], 1, 0", 0, "(Timeout)");
        push(&mut facts, i * 100 + 50, "write", "4, \"x\", 1", 1, "");
    }
    assert_eq!(
        (facts.readiness.zero_timeouts[0].empty, facts.readiness.zero_timeouts[0].laps.turns),
        (100, 0)
    );
}
