//! Time in calls that were only counted, and waits within a pipeline.

use super::*;
use whyslow_model::{
    Call, CallStats, Event, Known, LeftAs, Nanos, Ret, Sink, Stretch, Syscall, ThreadCounts, TimeState,
    Timestamp,
};

const MS: u64 = 1_000_000;

fn counted(facts: &mut Facts, name: &str, count: u64, each: Nanos) {
    let mut stats = CallStats::default();
    (0..count).for_each(|_| stats.record(each, false, 0));
    facts.push(Event::ThreadCounts(Box::new(ThreadCounts {
        pid: 7,
        tid: 7,
        syscall: Syscall::lookup(name.as_bytes()).expect("a call"),
        name: name.to_string(),
        from: Timestamp::new(0),
        to: Timestamp::new(1_000 * MS),
        stats,
    })));
}

fn stretch(facts: &mut Facts, ts_ms: u64, on_cpu_ms: u64, blocked_ms: u64) {
    left(facts, ts_ms, (on_cpu_ms, blocked_ms), LeftAs::Sleeping);
}

fn left(facts: &mut Facts, ts_ms: u64, (on_cpu_ms, blocked_ms): (u64, u64), left_as: LeftAs) {
    facts.push(Event::Stretch(Stretch {
        cpu: 0,
        pid: 7,
        tid: 7,
        ts: Timestamp::new(ts_ms * MS),
        on_cpu: Nanos::new(on_cpu_ms * MS),
        runnable: Nanos::ZERO,
        blocked: Nanos::new(blocked_ms * MS),
        left_as,
    }));
}

fn call(facts: &mut Facts, (tid, name, args): (u32, &str, &str), from_ms: u64, ms: u64, ret: i64) {
    let mut call = Call::new(name, args);
    (call.tid, call.pid, call.ret) = (tid, Some(tid), Ret::Value(ret));
    (call.ts, call.dur) = (Timestamp::new(from_ms * MS), Nanos::new(ms * MS));
    facts.push(Event::Call(&call));
}

/// State, call, ms and how well it is known, of the rows of a millisecond and more.
fn rows(facts: &mut Facts) -> Vec<(TimeState, Option<String>, u64, Known)> {
    facts.finish();
    let account = account(facts).expect("an account");
    assert_eq!(account.rows.iter().map(|row| row.ns).sum::<u64>(), account.ns);
    let rows = account.rows.iter().map(|row| (row.state, row.call.clone(), row.ns / MS, row.known));
    rows.filter(|row| row.2 > 0).collect()
}

#[test]
fn sleep_that_no_signal_ends_is_for_the_device_as_far_as_syncs_were_counted() {
    let mut facts = Facts::default();
    call(&mut facts, (7, "getpid", ""), 0, 0, 7);
    counted(&mut facts, "fsync", 1_000, Nanos::new(300_000));
    left(&mut facts, 0, (100, 900), LeftAs::Uninterruptible);
    let rows = rows(&mut facts);
    let synced = (TimeState::File, Some("fsync".to_string()), 300, Known::InProportion);
    assert!(rows.contains(&synced), "{rows:?}");
    // What is left of it is in no call, and the time on a CPU in none of these.
    assert!(rows.contains(&(TimeState::PageFault, None, 600, Known::Exact)), "{rows:?}");
    assert!(rows.contains(&(TimeState::User, None, 100, Known::Exact)), "{rows:?}");
}

#[test]
fn what_the_kernel_did_in_counted_calls_is_not_the_programs_own_computing() {
    let mut facts = Facts::default();
    call(&mut facts, (7, "getpid", ""), 0, 0, 7);
    counted(&mut facts, "write", 100_000, Nanos::new(2_000));
    stretch(&mut facts, 0, 300, 700);
    let rows = rows(&mut facts);
    let of = |state, call: Option<&str>| {
        rows.iter().find(|row| row.0 == state && row.1.as_deref() == call).map(|row| row.2)
    };
    assert_eq!(of(TimeState::Kernel, Some("write")), Some(200), "{rows:?}");
    assert_eq!(of(TimeState::User, None), Some(100), "{rows:?}");
    assert_eq!(of(TimeState::Unknown, None), Some(700), "{rows:?}");
}

#[test]
fn calls_that_never_wait_ran_and_those_that_wait_slept() {
    let mut facts = Facts::default();
    call(&mut facts, (7, "getpid", ""), 0, 0, 7);
    counted(&mut facts, "lseek", 50_000, Nanos::new(2_000));
    counted(&mut facts, "clock_nanosleep", 1_000, Nanos::new(600_000));
    stretch(&mut facts, 0, 300, 700);
    let rows = rows(&mut facts);
    assert!(
        rows.contains(&(TimeState::Timer, Some("clock_nanosleep".into()), 600, Known::InProportion)),
        "{rows:?}"
    );
    assert!(rows.contains(&(TimeState::Kernel, Some("lseek".into()), 100, Known::InProportion)), "{rows:?}");
    assert!(rows.iter().any(|row| (row.0, row.2) == (TimeState::User, 200)), "{rows:?}");
}

#[test]
fn short_waits_are_on_what_the_shortest_of_those_recorded_one_by_one_were_on() {
    let mut facts = Facts::default();
    let peer = "3, {sa_family=AF_INET, sin_port=htons(8080), sin_addr=inet_addr(\"10.0.0.7\")}, 16";
    call(&mut facts, (7, "socket", "AF_INET, SOCK_STREAM, IPPROTO_TCP"), 0, 0, 3);
    call(&mut facts, (7, "connect", peer), 0, 0, 0);
    call(&mut facts, (7, "recvfrom", "3, \"x\", 100, 0, NULL, NULL"), 1, 2, 1);
    counted(&mut facts, "recvfrom", 1_000, Nanos::new(500_000));
    stretch(&mut facts, 1_000, 100, 900);
    let rows = rows(&mut facts);
    let peer_ms: u64 = rows.iter().filter(|row| row.0 == TimeState::Peer).map(|row| row.2).sum();
    assert!((500..=510).contains(&peer_ms), "{rows:?}");
}

/// A parent asks its child by a pipe, and the child sleeps before it answers.
#[test]
fn in_a_pipeline_the_time_is_that_of_who_is_waited_for() {
    let mut facts = Facts::default();
    for turn in 0..20 {
        let from = turn * 100;
        call(
            &mut facts,
            (8, "clock_nanosleep", "CLOCK_REALTIME, 0, {tv_sec=0, tv_nsec=90000000}, NULL"),
            from,
            90,
            0,
        );
        call(&mut facts, (8, "write", "4<pipe:[55]>, \"ok\", 2"), from + 90, 0, 2);
        call(&mut facts, (7, "read", "3<pipe:[55]>, \"ok\", 2"), from + 1, 89, 2);
    }
    facts.finish();
    let parent = facts.world.threads.find_process(7).expect("the parent");
    let alone = threads::spent(&facts, Some(&[parent])).expect("its time");
    let at_pipes = alone.parts.iter().filter(|part| part.state == TimeState::Pipe);
    // What the child does is no part of the parent's own account: there the parent waits.
    assert_eq!(at_pipes.map(|part| part.ns / MS).sum::<u64>(), 20 * 89);
    let account = account(&facts).expect("an account");
    let of = |state| account.rows.iter().filter(|row| row.state == state).map(|row| row.ns / MS).sum::<u64>();
    assert_eq!((of(TimeState::Pipe), of(TimeState::Timer)), (0, 1_800), "{:?}", account.rows);
    assert!(account.idle_ns >= 1_700 * MS);
}

#[test]
fn rows_of_counted_calls_have_their_count() {
    let mut facts = Facts::default();
    call(&mut facts, (7, "getpid", ""), 0, 0, 7);
    counted(&mut facts, "write", 100_000, Nanos::new(2_000));
    stretch(&mut facts, 0, 300, 700);
    facts.finish();
    let rows = account(&facts).expect("an account").rows;
    let of_write = rows.iter().find(|row| row.call.as_deref() == Some("write"));
    assert_eq!(of_write.and_then(|row| row.count), Some(100_000), "{rows:?}");
}
