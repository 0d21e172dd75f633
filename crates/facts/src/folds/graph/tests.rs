//! Who ended which wait, and where nobody is to be named.

use super::{How, LongCall};
use crate::Facts;
use whyslow_model::{Call, Errno, Event, Exit, Nanos, Ret, Sink, SourceId, Timestamp};

/// One call: thread, when it begins and how long it takes (ms), name, arguments, result.
type Told<'a> = (u32, u64, u64, &'a str, &'a str, i64);

fn push(facts: &mut Facts, (tid, from, dur, name, args, ret): Told<'_>) {
    let mut call = Call::new(name, args);
    (call.tid, call.ts, call.dur) = (tid, Timestamp::new(1 + from * 1_000_000), Nanos::from_millis(dur));
    call.ret = Ret::Value(ret.max(-1));
    call.errno = if ret < 0 { Errno((-ret) as u16) } else { Errno::NONE };
    facts.push(Event::Call(&call));
}

fn facts(calls: &[Told<'_>]) -> Facts {
    let mut facts = Facts::default();
    calls.iter().for_each(|call| push(&mut facts, *call));
    facts.finish();
    facts
}

fn waker(facts: &Facts, tid: u32) -> Option<(u32, How)> {
    let longest = |call: &&LongCall| call.dur();
    let call = facts.graph.timeline(tid)?.calls.iter().max_by_key(longest)?;
    call.waker.map(|waker| (waker.tid, waker.how))
}

#[test]
fn record_locks_are_ended_by_unlock_and_close() {
    let lock = "{l_type=F_WRLCK, l_whence=SEEK_SET, l_start=0, l_len=0}";
    let unlock = "{l_type=F_UNLCK, l_whence=SEEK_SET, l_start=0, l_len=0}";
    for (set, wait) in [("F_SETLK", "F_SETLKW"), ("F_OFD_SETLK", "F_OFD_SETLKW")] {
        let given = format!("5</srv/state>, {set}, {unlock}");
        let waited = format!("6</srv/state>, {wait}, {lock}");
        let calls = [(1, 100, 0, "fcntl", given.as_str(), 0), (2, 50, 51, "fcntl", waited.as_str(), 0)];
        assert_eq!(waker(&facts(&calls), 2), Some((1, How::Unlocked)), "{set}");
    }
    let waited = format!("6</srv/state>, F_SETLKW, {lock}");
    let taken = format!("5</srv/state>, F_SETLK, {lock}");
    let calls = [
        (1, 0, 0, "fcntl", taken.as_str(), 0),
        (1, 100, 0, "close", "5</srv/state>", 0),
        (2, 50, 51, "fcntl", waited.as_str(), 0),
    ];
    assert_eq!(waker(&facts(&calls), 2), Some((1, How::Unlocked)));
    // Another file's.
    let calls = [
        (1, 100, 0, "flock", "5</srv/other>, LOCK_UN", 0),
        (2, 50, 51, "flock", "6</srv/state>, LOCK_EX", 0),
    ];
    assert_eq!(waker(&facts(&calls), 2), None);
}

#[test]
fn semaphores_are_counted_up_by_another() {
    let up = "7, [{sem_num=0, sem_op=1, sem_flg=0}], 1";
    let down = "7, [{sem_num=0, sem_op=-1, sem_flg=0}], 1";
    let calls = [(1, 100, 0, "semop", up, 0), (2, 50, 51, "semop", down, 0)];
    assert_eq!(waker(&facts(&calls), 2), Some((1, How::Semaphore)));
    let other = "8, [{sem_num=0, sem_op=1, sem_flg=0}], 1";
    let calls = [(1, 100, 0, "semop", other, 0), (2, 50, 51, "semop", down, 0)];
    assert_eq!(waker(&facts(&calls), 2), None);
}

#[test]
fn signals_end_the_waits_for_them() {
    const EINTR: i64 = -4;
    for (sends, args) in [("kill", "2, SIGUSR1"), ("tgkill", "2, 2, SIGUSR1"), ("tkill", "2, SIGUSR1")] {
        for (waits, with) in [("pause", ""), ("rt_sigsuspend", "[], 8")] {
            let calls = [(1, 100, 0, sends, args, 0), (2, 50, 51, waits, with, EINTR)];
            assert_eq!(waker(&facts(&calls), 2), Some((1, How::Signal)), "{sends} {waits}");
        }
    }
    // Signal 0 is none.
    let calls = [(1, 100, 0, "kill", "2, 0", 0), (2, 50, 51, "pause", "", EINTR)];
    assert_eq!(waker(&facts(&calls), 2), None);
}

#[test]
fn a_number_used_again_is_another_thread_and_another_descriptor() {
    // The pipe of the first number 4 was closed; the second 4 leads elsewhere.
    let calls = [
        (1, 0, 0, "pipe2", "[3, 4], 0", 0),
        (1, 1, 0, "close", "4", 0),
        (1, 2, 0, "openat", "AT_FDCWD, \"/tmp/x\", O_WRONLY", 4),
        (1, 60, 0, "write", "4, \"x\", 1", 1),
        (2, 50, 51, "read", "3<pipe:[77]>, \"x\", 1", 1),
    ];
    assert_eq!(waker(&facts(&calls), 2), None);
    // Thread 5 ended and its number was used again: the end of the first is not what was waited for later.
    let mut told = Facts::default();
    push(&mut told, (1, 0, 0, "clone", "child_stack=0x7f, flags=CLONE_VM|CLONE_THREAD", 5));
    push(&mut told, (5, 1, 0, "getpid", "", 1));
    let ts = Timestamp::new(1 + 10 * 1_000_000);
    told.push(Event::Exit(Exit { source: SourceId(0), line: 1, tid: 5, ts, status: Some(0), signal: None }));
    push(&mut told, (1, 20, 0, "clone", "child_stack=0x7f, flags=CLONE_VM|CLONE_THREAD", 5));
    push(&mut told, (5, 21, 0, "getpid", "", 1));
    let join = "0x7f10, FUTEX_WAIT_BITSET|FUTEX_CLOCK_REALTIME, 5, NULL, FUTEX_BITSET_MATCH_ANY";
    push(&mut told, (1, 30, 50, "futex", join, 0));
    told.finish();
    assert_eq!(waker(&told, 1), None);
}

#[test]
fn a_wake_that_the_capture_lost_names_nobody() {
    // The wake at another address, and one before the wait began.
    let calls = [
        (1, 10, 0, "futex", "0x7f10, FUTEX_WAKE_PRIVATE, 1", 1),
        (1, 100, 0, "futex", "0x7f20, FUTEX_WAKE_PRIVATE, 1", 1),
        (2, 50, 51, "futex", "0x7f10, FUTEX_WAIT_PRIVATE, 2, NULL", 0),
    ];
    assert_eq!(waker(&facts(&calls), 2), None);
    // A connection that was there before, and whose other end is not in the capture.
    let read = "5<TCP:[127.0.0.1:80->127.0.0.1:9000]>, \"x\", 9, 0, NULL, NULL";
    let write = "6<TCP:[127.0.0.1:9001->127.0.0.1:80]>, \"x\", 1, 0, NULL, 0";
    let calls = [(1, 100, 0, "sendto", write, 1), (2, 50, 51, "recvfrom", read, 1)];
    assert_eq!(waker(&facts(&calls), 2), None);
}

const ASKS: &str = "4<TCP:[127.0.0.1:5000->127.0.0.1:80]>, \"x\", 9";
const SERVES: &str = "7<TCP:[127.0.0.1:80->127.0.0.1:5000]>, \"x\", 9";

#[test]
fn what_a_reader_had_taken_before_it_waited_woke_it_not() {
    // The tracer of the server says late that the first answer was sent.
    let calls = [
        (1, 0, 11, "recvfrom", ASKS, 1),
        (2, 10, 5, "sendto", SERVES, 1),
        (2, 40, 0, "sendto", SERVES, 1),
        (1, 12, 28, "recvfrom", ASKS, 1),
    ];
    let facts = facts(&calls);
    let last = facts.graph.timeline(1).and_then(|timeline| timeline.calls.last()?.waker);
    assert_eq!(last.map(|waker| (waker.tid, waker.ts.or_zero() / 1_000_000)), Some((2, 40)));
}

#[test]
fn a_traced_wait_may_have_ended_a_moment_later_than_it_says() {
    let ended = |sent: u64, pid: Option<u32>| {
        let mut facts = Facts::default();
        for (tid, from_us, us, name, args) in
            [(1, 0, 20_000, "recvfrom", ASKS), (2, sent, 10, "sendto", SERVES)]
        {
            let mut call = Call::new(name, args);
            (call.tid, call.pid) = (tid, pid.map(|pid| pid + tid));
            (call.ts, call.dur) = (Timestamp::new(1 + from_us * 1_000), Nanos::new(us * 1_000));
            call.ret = Ret::Value(1);
            facts.push(Event::Call(&call));
        }
        facts.finish();
        waker(&facts, 1)
    };
    assert_eq!(ended(20_100, None), Some((2, How::OtherEnd)));
    assert_eq!(ended(22_000, None), None);
    // A recorder's times are the kernel's.
    assert_eq!(ended(20_100, Some(100)), None);
}
