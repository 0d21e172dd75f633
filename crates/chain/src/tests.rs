//! The rules that hold for all chains, over made-up captures.

use super::*;
use proptest::prelude::*;
use whyslow_facts::Facts;
use whyslow_model::{
    Call, CallFlags, Errno, Event, Exit, LeftAs, Nanos, Ret, Sink, SourceId, Stretch, WakeContext, Wakeup,
};

/// What a thread does next: after how long, what, for how long, us.
type Step = (u64, u8, u64);

fn line(kind: u8, tid: u32) -> (&'static str, String, i64) {
    let other = 1 + kind as u32 % 4;
    match kind % 16 {
        0 | 1 => ("futex", format!("0x7f{:x}0, FUTEX_WAIT_PRIVATE, 2, NULL", kind / 16 % 3), 0),
        2 | 3 => ("futex", format!("0x7f{:x}0, FUTEX_WAKE_PRIVATE, 1", kind / 16 % 3), 1),
        4 => ("futex", "0x7f00, FUTEX_CMP_REQUEUE_PRIVATE, 1, 2147483647, 0x7f10, 4".to_string(), 2),
        5 => (
            "futex",
            format!("0x7f99, FUTEX_WAIT_BITSET|FUTEX_CLOCK_REALTIME, {other}, NULL, FUTEX_BITSET_MATCH_ANY"),
            0,
        ),
        6 => ("read", "3<pipe:[77]>, \"x\", 1".to_string(), 1),
        7 => ("write", "4<pipe:[77]>, \"x\", 1".to_string(), 1),
        8 => ("recvfrom", "5<TCP:[127.0.0.1:80->127.0.0.1:9000]>, \"x\", 9, 0, NULL, NULL".to_string(), 1),
        9 => ("sendto", "6<TCP:[127.0.0.1:9000->127.0.0.1:80]>, \"x\", 1, 0, NULL, 0".to_string(), 1),
        10 => ("nanosleep", "{tv_sec=0, tv_nsec=1}, NULL".to_string(), 0),
        11 => ("fsync", "7</data/file>".to_string(), 0),
        12 => ("clone", "child_stack=NULL, flags=CLONE_THREAD|CLONE_VM".to_string(), i64::from(other)),
        13 => ("epoll_wait", "8, [{events=EPOLLIN, data={u32=3, u64=3}}], 9, -1".to_string(), 1),
        14 => ("wait4", format!("-1, NULL, 0, NULL /* {tid} */"), i64::from(other)),
        _ => ("poll", "[{fd=3, events=POLLIN}], 1, -1".to_string(), 0),
    }
}

/// Pushes what the threads do, each call when it ends; every seventh with what a scheduler would tell.
fn facts(threads: &[Vec<Step>], scheduled: bool) -> Facts {
    let mut all: Vec<(u64, u64, u32, u8)> = Vec::new();
    for (tid, steps) in (1u32..).zip(threads) {
        let mut at = 1_000_000 + u64::from(tid) * 100;
        for &(pause, kind, dur) in steps {
            at += pause;
            all.push((at + dur, at, tid, kind));
            at += dur;
        }
    }
    all.sort();
    let mut facts = Facts::default();
    for (end, from, tid, kind) in all {
        let (name, args, ret) = line(kind, tid);
        if scheduled && kind % 3 == 0 {
            let waker = (kind % 2 == 0).then_some(1 + u32::from(kind) % 5);
            let context = if waker.is_some() { WakeContext::Task } else { WakeContext::SoftIrq };
            let ts = Timestamp::new((end - (end - from) / 4) * 1_000);
            facts.push(Event::Wakeup(Wakeup { ts, cpu: 0, waker, context, wakee: tid }));
        }
        if kind == 255 {
            let ts = Timestamp::new(end * 1_000);
            facts.push(Event::Exit(Exit {
                source: SourceId(0),
                line: 1,
                tid,
                ts,
                status: Some(0),
                signal: None,
            }));
            continue;
        }
        let mut call = Call::new(name, &args);
        (call.tid, call.ts, call.dur) = (tid, Timestamp::new(from * 1_000), Nanos::new((end - from) * 1_000));
        call.ret = Ret::Value(ret);
        if kind == 254 {
            (call.dur, call.ret) = (Nanos::UNKNOWN, Ret::Unknown);
            call.flags = CallFlags::END_NOT_SEEN;
        } else if kind % 16 == 0 && kind > 200 {
            (call.ret, call.errno) = (Ret::Value(-1), Errno::ETIMEDOUT);
        }
        facts.push(Event::Call(&call));
        if scheduled {
            facts.push(Event::Stretch(Stretch {
                ts: Timestamp::new(end * 1_000),
                cpu: 0,
                pid: 1,
                tid,
                left_as: if kind % 5 == 0 { LeftAs::Uninterruptible } else { LeftAs::Sleeping },
                on_cpu: Nanos::new(5_000),
                runnable: Nanos::new((end - from) * 1_000 / 4),
                blocked: Nanos::new((end - from) * 1_000 / 2),
            }));
        }
    }
    facts.finish();
    facts
}

fn check(path: &Path<'_>, total: u64) -> Result<(), TestCaseError> {
    prop_assert_eq!(path.segments.iter().map(|segment| segment.ns).sum::<u64>(), total);
    prop_assert_eq!(path.by_kind().iter().map(|(_, ns)| ns).sum::<u64>(), total);
    for segment in &path.segments {
        prop_assert!(segment.from < segment.to && segment.ns <= segment.to - segment.from);
        prop_assert!(path.from.or_zero() <= segment.from && segment.to <= path.to.or_zero());
        let stay = path.stays[segment.stay];
        prop_assert!(stay.from <= segment.from && segment.to <= stay.to);
        if let Some(call) = segment.call {
            prop_assert!(call.tid == stay.tid);
            prop_assert!(call.from.or_zero() <= segment.from && segment.to <= call.to.or_zero());
        }
    }
    // What is whole excludes all else.
    let mut whole: Vec<_> =
        path.segments.iter().filter(|segment| segment.ns == segment.to - segment.from).collect();
    whole.sort_by_key(|segment| segment.from);
    for pair in whole.windows(2) {
        prop_assert!(pair[0].to <= pair[1].from, "{:?} {:?}", pair[0], pair[1]);
    }
    for stay in &path.stays {
        prop_assert!(stay.depth <= MAX_DEPTH && stay.from < stay.to);
    }
    Ok(())
}

proptest! {
    #[test]
    fn the_parts_are_exclusive_and_add_up(
        threads in prop::collection::vec(prop::collection::vec((0u64..8_000, any::<u8>(), 0u64..20_000), 0..30), 1..6),
        from in 900_000u64..1_300_000,
        length in 1u64..400_000,
        tid in 0u32..8,
        scheduled: bool,
    ) {
        let facts = facts(&threads, scheduled);
        let explainer = Explainer::new(&facts);
        let path = explainer.path(tid, Timestamp::new(from * 1_000), Timestamp::new((from + length) * 1_000));
        check(&path, length * 1_000)?;
        for link in explainer.chain(&path) {
            prop_assert!(!link.who.is_empty() && !link.waits_for.is_empty() && link.ns.is_known());
        }
        if let Some((first, last)) = explainer.span(tid) && first < last {
            check(&explainer.path(tid, first, last), last.since(first).or_zero())?;
        }
    }
}

#[test]
fn the_time_before_a_call_without_length_counts_once() {
    // The last call begins in the last moment of the capture and does not end.
    let facts = facts(&[vec![], vec![(0, 0, 0), (0, 255, 0), (0, 0, 1), (4, 254, 0)]], true);
    let explainer = Explainer::new(&facts);
    let (first, last) = explainer.span(2).unwrap();
    check(&explainer.path(2, first, last), last.since(first).or_zero()).unwrap();
}

#[test]
fn a_cycle_is_cut_and_a_long_chain_ends() {
    // Each waits for the next one, all at once, and each is woken at the end: who began is not to be told.
    let mut facts = Facts::default();
    let mut push = |tid: u32, from: u64, dur: u64, args: &str, ret: i64| {
        let mut call = Call::new("futex", args);
        (call.tid, call.ts, call.dur) = (tid, Timestamp::new(from), Nanos::new(dur));
        call.ret = Ret::Value(ret);
        facts.push(Event::Call(&call));
    };
    for tid in 1..=40u32 {
        push(tid, 0, 1, "0x10, FUTEX_WAKE_PRIVATE, 1", 0);
    }
    for tid in (1..=40u32).rev() {
        let end = 100_000_000 - u64::from(tid) * 1_000_000;
        if tid < 40 {
            push(tid, 10, end - 10, &format!("0x1{tid}0, FUTEX_WAIT_PRIVATE, 2, NULL"), 0);
        }
        if tid > 1 {
            push(tid, end + 100, 50, &format!("0x1{}0, FUTEX_WAKE_PRIVATE, 1", tid - 1), 1);
        }
    }
    facts.finish();
    let explainer = Explainer::new(&facts);
    let path = explainer.path(1, Timestamp::new(10), Timestamp::new(99_000_000));
    check(&path, 98_999_990).unwrap();
    assert_eq!(path.stays.iter().map(|stay| stay.depth).max(), Some(MAX_DEPTH));
    assert!(path.segments.iter().any(|segment| segment.missing == Some(Missing::TooDeep)));
}

/// Calls as `(thread, from us, for us, name, args, ret)`, pushed as they end.
fn told(mut calls: Vec<(u32, u64, u64, &'static str, String, i64)>) -> Facts {
    calls.sort_by_key(|(_, from, dur, ..)| from + dur);
    let mut facts = Facts::default();
    for (tid, from, dur, name, args, ret) in calls {
        let mut call = Call::new(name, &args);
        (call.tid, call.ts, call.dur) = (tid, Timestamp::new(from * 1_000), Nanos::new(dur * 1_000));
        call.ret = Ret::Value(ret);
        facts.push(Event::Call(&call));
    }
    facts.finish();
    facts
}

/// Three threads take turns at one address: each waits for two turns of the others. `value` is what the wait says.
fn turns(value: u32) -> Vec<(u32, u64, u64, &'static str, String, i64)> {
    let mut calls = Vec::new();
    for turn in 0..30u64 {
        let tid = 1 + (turn % 3) as u32;
        let begin = 1_000_000 + turn * 10_000;
        calls.push((tid, begin + 9_900, 10, "futex", "0x7f10, FUTEX_WAKE_PRIVATE, 1".to_string(), 1));
        if turn >= 3 {
            calls.push((
                tid,
                begin - 19_990,
                19_945,
                "futex",
                format!("0x7f10, FUTEX_WAIT_PRIVATE, {value}, NULL"),
                0,
            ));
        }
    }
    calls
}

fn knots(facts: &Facts) -> Vec<Knot> {
    let explainer = Explainer::new(facts);
    let mut finder = KnotFinder::new(&explainer);
    for span in explainer.spans().1 {
        finder.see(&explainer.path(span.tid, span.from, span.to));
    }
    finder.knots()
}

#[test]
fn threads_that_wait_only_for_each_other_are_a_knot() {
    let found = knots(&told(turns(2)));
    assert_eq!(found.len(), 1, "{found:?}");
    let knot = &found[0];
    assert_eq!((&knot.members[..], &knot.locks[..]), (&[1, 2, 3][..], &[0x7f10][..]));
    assert_eq!(knot.ns, 27 * 19_945_000);
    assert!((0.55..0.75).contains(&knot.share()), "{}", knot.share());
    assert!(knot.words().starts_with("threads 1, 2 and 3 wait for each other"), "{}", knot.words());
    assert!(knot.words().ends_with("through futex 0x7f10"), "{}", knot.words());
}

#[test]
fn no_knot_where_one_waits_for_something_else_or_all_are_idle() {
    // A condition that workers wait at for work: nobody is held up.
    assert!(knots(&told(turns(0))).is_empty());
    // The second thread also waits for a device.
    let mut calls = turns(2);
    for turn in (1..30u64).step_by(3) {
        calls.push((2, 1_000_000 + turn * 10_000, 9_000, "fsync", "7</data/file>".to_string(), 0));
    }
    assert!(knots(&told(calls)).is_empty());
}

/// A call that had not returned as the capture ended.
fn under_way(facts: &mut Facts, tid: u32, from_ms: u64, name: &str, args: &str) {
    let mut call = Call::new(name, args);
    (call.tid, call.pid, call.ts) = (tid, Some(10), Timestamp::new(from_ms * 1_000_000));
    call.flags = CallFlags::END_NOT_SEEN;
    facts.push(Event::Call(&call));
}

#[test]
fn who_joins_a_thread_that_has_not_ended_spends_its_time_as_that_one_does() {
    let mut facts = Facts::default();
    let mut ended = |tid: u32, from_ms: u64, ms: u64, name: &str, args: &str, ret: i64| {
        let mut call = Call::new(name, args);
        (call.tid, call.pid, call.ts) = (tid, Some(10), Timestamp::new(from_ms * 1_000_000));
        (call.dur, call.ret) = (Nanos::from_millis(ms), Ret::Value(ret));
        facts.push(Event::Call(&call));
    };
    ended(10, 1_000, 1, "clone", "child_stack=0x7f, flags=CLONE_VM|CLONE_FILES|CLONE_THREAD", 12);
    ended(12, 1_010, 900, "fsync", "7</data/file>", 0);
    ended(12, 1_950, 1, "close", "7</data/file>", 0);
    let join = "0x7f99, FUTEX_WAIT_BITSET|FUTEX_CLOCK_REALTIME, 12, NULL, FUTEX_BITSET_MATCH_ANY";
    under_way(&mut facts, 10, 1_005, "futex", join);
    facts.finish();
    let explainer = Explainer::new(&facts);
    let path = explainer.path(10, Timestamp::new(1_005_000_000), Timestamp::new(1_951_000_000));
    check(&path, 946_000_000).unwrap();
    assert!(path.of(PathKind::Disk) >= 900_000_000, "{:?}", path.by_kind());
    assert_eq!(path.stays.iter().map(|stay| stay.tid).collect::<Vec<_>>(), [10, 12]);
}
