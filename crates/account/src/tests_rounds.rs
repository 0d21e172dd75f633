//! Sleeps that are none of the slowness: until the next round, and beside children at work.

use super::*;
use whyslow_model::{Call, Event, Nanos, Ret, Sink, TimeState, Timestamp};

const MS: u64 = 1_000_000;

fn call(facts: &mut Facts, pid: u32, (name, args): (&str, &str), from_ms: u64, ms: u64, ret: i64) {
    let mut call = Call::new(name, args);
    (call.tid, call.pid) = (pid, Some(pid));
    (call.ts, call.dur, call.ret) = (Timestamp::new(from_ms * MS), Nanos::new(ms * MS), Ret::Value(ret));
    facts.push(Event::Call(&call));
}

const SLEEP: (&str, &str) = ("clock_nanosleep", "CLOCK_REALTIME, 0, {tv_sec=0, tv_nsec=9000000}, NULL");

/// Of 40 rounds of a thread that reads a file for some time and then sleeps: what it slept, and what waited for work, ms.
fn rounds(sleep_ms: impl Fn(u64) -> u64) -> (u64, u64) {
    let mut facts = Facts::default();
    let mut now = 1_000;
    for round in 0..40 {
        let work = 2 + round * 7 % 11;
        call(&mut facts, 7, ("read", "3</srv/jobs>, \"\", 4096"), now, work, 64);
        call(&mut facts, 7, SLEEP, now + work, sleep_ms(work), 0);
        now += work + sleep_ms(work);
    }
    facts.finish();
    let account = account(&facts).unwrap();
    let slept =
        account.rows.iter().filter(|row| row.state == TimeState::Timer).map(|row| row.ns).sum::<u64>();
    (slept / MS, account.idle_ns / MS)
}

#[test]
fn what_is_slept_until_the_next_round_waits_for_work_and_a_fixed_pause_does_not() {
    let whole: u64 = (0..40).map(|round| 20 - (2 + round * 7 % 11)).sum();
    assert_eq!(rounds(|work| 20 - work), (0, whole));
    assert_eq!(rounds(|_| 20), (40 * 20, 0));
}

/// A command that starts a child, which waits for a file's lock, and sleeps meanwhile, so many times: the processes and states of the rows.
fn beside_a_child(sleeps: u64) -> Vec<(u32, TimeState)> {
    let mut facts = Facts::default();
    call(&mut facts, 1, ("execve", "\"/srv/books\", [\"books\"], 0x7ffd /* 9 vars */"), 1_000, 1, 0);
    call(&mut facts, 1, ("clone", "child_stack=NULL, flags=SIGCHLD"), 1_001, 1, 2);
    call(&mut facts, 2, ("flock", "4</srv/accounts.lock>, LOCK_EX"), 1_003, 2_000, 0);
    for sleep in 0..sleeps {
        call(&mut facts, 1, SLEEP, 1_003 + sleep * 2_000 / sleeps, 2_000 / sleeps, 0);
    }
    facts.finish();
    let account = account(&facts).unwrap();
    let large = account.rows.iter().filter(|row| row.ns >= 500 * MS);
    large.map(|row| (row.pids[0], row.state)).collect()
}

#[test]
fn of_who_sleeps_at_once_beside_children_their_time_counts() {
    assert_eq!(beside_a_child(1), [(2, TimeState::Lock)]);
    // Who looks again and again may wait for what it looks at.
    assert_eq!(beside_a_child(100), [(1, TimeState::Timer)]);
}
