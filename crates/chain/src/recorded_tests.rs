//! Chains of recordings: what a CPU quota takes, and threads that end meanwhile.

use crate::{Explainer, PathKind};
use proptest::prelude::*;
use whyslow_facts::Facts;
use whyslow_model::{
    Call, Entity, Event, Exit, FigureRow, FigureTable, LeftAs, Metric, Nanos, Over, Ret, SampleKind,
    SampledStack, Sink, SourceId, Stretch, Timestamp, Trait, WakeContext, Wakeup,
};

const MS: u64 = 1_000_000;

fn stretch(tid: u32, pid: u32, cpu: u16, ran_ms: u64, waited_ms: u64, on_ms: u64) -> Event<'static> {
    Event::Stretch(Stretch {
        ts: Timestamp::new(ran_ms * MS),
        cpu,
        pid,
        tid,
        left_as: LeftAs::Runnable,
        on_cpu: Nanos::new(on_ms * MS),
        runnable: Nanos::new(waited_ms * MS),
        blocked: Nanos::ZERO,
    })
}

/// The process is in that group, which was stopped so long in the interval before `at_ms`.
fn stopped(pid: u32, path: &str, at_ms: u64, length_ms: u64, stopped_ms: u64) -> Event<'static> {
    let mut table = FigureTable::new(SourceId(0), "cpu.stat");
    table.at = Timestamp::new(at_ms * MS);
    table.over = Over::Interval(Nanos::new(length_ms * MS));
    let mut own = FigureRow::new(Entity::Process(pid));
    own.say(Trait::Cgroup, path);
    let mut group = FigureRow::new(Entity::Cgroup(path.into()));
    group.set(Metric::ThrottledTime, stopped_ms as f64 / length_ms as f64);
    table.rows = vec![own, group];
    Event::Figures(Box::new(table))
}

fn kinds(facts: &Facts, tid: u32) -> Vec<(PathKind, u64)> {
    let explainer = Explainer::new(facts);
    let (from, to) = explainer.span(tid).unwrap();
    let path = explainer.path(tid, from, to);
    let of = |kind| (path.of(kind) + MS / 2) / MS;
    PathKind::ALL.into_iter().map(|kind| (kind, of(kind))).filter(|(_, ms)| *ms > 0).collect()
}

fn call(tid: u32, pid: u32, at_ms: u64) -> Call<'static> {
    let ts = Timestamp::new(at_ms * MS);
    Call { tid, pid: Some(pid), ts, dur: Nanos::ZERO, ret: Ret::Value(1), ..Call::new("getpid", "") }
}

#[test]
fn one_thread_waits_as_long_as_its_group_is_stopped() {
    let mut facts = Facts::default();
    facts.push(Event::Call(&call(5, 5, 1_000)));
    facts.push(stretch(5, 5, 0, 1_000, 0, 20));
    facts.push(stopped(5, "/app", 1_100, 100, 80));
    facts.push(stretch(5, 5, 0, 1_100, 80, 10));
    // The group was not stopped here: somebody else had the CPU.
    facts.push(stretch(5, 5, 0, 1_150, 40, 50));
    facts.finish();
    assert_eq!(kinds(&facts, 5), [(PathKind::User, 80), (PathKind::RunQueue, 40), (PathKind::Throttled, 80)]);
    let (_, thread) = facts.world.threads.iter().next().unwrap();
    assert!(thread.sched.as_deref().unwrap().throttled_ns.abs_diff(80 * MS) < 1_000);
}

#[test]
fn a_stop_on_two_cpus_counts_once_for_each_thread() {
    let mut facts = Facts::default();
    for tid in [5, 6] {
        facts.push(Event::Call(&call(tid, 5, 1_000)));
        facts.push(stretch(tid, 5, tid as u16, 1_000, 0, 20));
        facts.push(stretch(tid, 5, tid as u16, 1_100, 80, 10));
    }
    facts.push(stopped(5, "/app", 1_100, 100, 120));
    facts.finish();
    for tid in [5, 6] {
        assert_eq!(
            kinds(&facts, tid),
            [(PathKind::User, 30), (PathKind::RunQueue, 20), (PathKind::Throttled, 60)]
        );
    }
}

#[test]
fn another_groups_quota_is_nobody_elses() {
    let mut facts = Facts::default();
    for tid in [5, 7] {
        facts.push(Event::Call(&call(tid, tid, 1_000)));
        facts.push(stretch(tid, tid, 0, 1_000, 0, 20));
        facts.push(stretch(tid, tid, 0, 1_100, 80, 10));
    }
    facts.push(stopped(7, "/apple", 1_100, 100, 80));
    facts.push(stopped(5, "/app", 1_100, 100, 0));
    facts.finish();
    assert_eq!(kinds(&facts, 5), [(PathKind::User, 30), (PathKind::RunQueue, 80)]);
    assert_eq!(kinds(&facts, 7), [(PathKind::User, 30), (PathKind::Throttled, 80)]);
}

#[test]
fn the_finer_of_two_tellers_is_heard() {
    let mut facts = Facts::default();
    facts.push(Event::Call(&call(5, 5, 1_000)));
    facts.push(stretch(5, 5, 0, 1_000, 0, 10));
    facts.push(stretch(5, 5, 0, 1_090, 80, 30));
    let tell = |facts: &mut Facts, tool, event| {
        let Event::Figures(mut table) = event else { unreachable!() };
        table.tool = tool;
        facts.push(Event::Figures(table));
    };
    // One look over all of it would spread the stops.
    tell(&mut facts, "/proc", stopped(5, "/app", 2_000, 1_000, 160));
    tell(&mut facts, "cpu.stat", stopped(5, "/app", 1_100, 100, 80));
    tell(&mut facts, "cpu.stat", stopped(5, "/app", 1_900, 100, 80));
    facts.finish();
    assert_eq!(kinds(&facts, 5), [(PathKind::User, 40), (PathKind::Throttled, 80)]);
}

proptest! {
    #[test]
    fn what_is_throttled_is_a_part_of_the_waits_and_of_the_stops(
        waits in prop::collection::vec((0u64..150, 1u64..90), 1..20),
        stops in prop::collection::vec((1u64..120, 0u64..300), 1..20),
    ) {
        let mut facts = Facts::default();
        facts.push(Event::Call(&call(5, 5, 1_000)));
        let mut at = 1_000;
        let mut queued = 0;
        for (waited, on) in waits {
            facts.push(stretch(5, 5, 0, at + waited, waited, on));
            at += waited + on;
            queued += waited;
        }
        let (mut told, mut stopped_ms) = (1_000, 0);
        for (length, stop) in stops {
            told += length;
            stopped_ms += stop;
            facts.push(stopped(5, "/a", told, length, stop));
        }
        facts.finish();
        let explainer = Explainer::new(&facts);
        let (from, to) = explainer.span(5).unwrap();
        let path = explainer.path(5, from, to);
        prop_assert_eq!(path.by_kind().iter().map(|(_, ns)| ns).sum::<u64>(), path.total());
        let throttled = path.of(PathKind::Throttled);
        prop_assert!(throttled <= queued.min(stopped_ms) * MS);
        let (_, thread) = facts.world.threads.iter().next().unwrap();
        let time = thread.sched.as_deref().unwrap();
        prop_assert!(time.throttled_ns <= time.runnable_ns);
        prop_assert!(time.throttled_ns.abs_diff(throttled) < 1_000);
    }
}

#[test]
fn what_is_told_of_a_thread_after_its_end_makes_no_second_process() {
    let at = |ms: u64| Timestamp::new(ms * 1_000_000);
    let mut facts = Facts::default();
    facts.push(Event::Call(&Call { dur: Nanos::new(1_000), ..call(7, 7, 1) }));
    facts.push(Event::Exit(Exit {
        source: SourceId(0),
        line: 1,
        tid: 7,
        ts: at(50),
        status: Some(0),
        signal: None,
    }));
    facts.push(Event::Sample(SampledStack {
        kind: SampleKind::OnCpu,
        ts: at(51),
        cpu: 0,
        pid: 7,
        tid: 7,
        weight: Nanos::new(10_000_000),
        user: None,
        kernel: None,
    }));
    facts.push(Event::Stretch(Stretch {
        ts: at(40),
        cpu: 0,
        pid: 7,
        tid: 7,
        left_as: LeftAs::Dead,
        on_cpu: Nanos::new(12_000_000),
        runnable: Nanos::ZERO,
        blocked: Nanos::new(39_000_000),
    }));
    facts.finish();
    assert_eq!((facts.world.threads.processes().count(), facts.world.threads.iter().count()), (1, 1));
    let explainer = Explainer::new(&facts);
    assert_eq!(explainer.span(7), Some((at(1), at(52))));
}

#[test]
fn a_wait_that_an_unrecorded_thread_ends_stays_a_wait_for_its_peer() {
    let mut facts = Facts::default();
    facts.push(Event::Call(&call(5, 5, 1_000)));
    let args = "4<TCP:[10.0.0.1:50000->10.0.0.7:7001]>, \"x\", 64, 0, NULL, NULL";
    let ts = Timestamp::new(1_100 * MS);
    let mut waits = Call { tid: 5, pid: Some(5), ts, ret: Ret::Value(64), ..Call::new("recvfrom", args) };
    waits.dur = Nanos::new(400 * MS);
    facts.push(Event::Wakeup(Wakeup {
        ts: Timestamp::new(1_490 * MS),
        cpu: 0,
        waker: Some(77),
        context: WakeContext::Task,
        wakee: 5,
    }));
    facts.push(Event::Call(&waits));
    facts.push(stretch(5, 5, 0, 1_600, 0, 100));
    facts.push(Event::Call(&call(5, 5, 1_600)));
    facts.finish();
    let peer = kinds(&facts, 5).into_iter().find(|(kind, _)| *kind == PathKind::Peer);
    assert!(peer.is_some_and(|(_, ms)| ms >= 380), "{:?}", kinds(&facts, 5));
}

#[test]
fn a_first_thread_that_waits_in_one_call_all_along_is_no_second_process() {
    let mut facts = Facts::default();
    facts.push(Event::Call(&call(8, 7, 1)));
    let exit = |tid: u32, ms: u64| {
        let ts = Timestamp::new(ms * MS);
        Event::Exit(Exit { source: SourceId(0), line: 1, tid, ts, status: Some(0), signal: None })
    };
    facts.push(exit(8, 50));
    facts.push(exit(7, 60));
    // Under way since before the recording began: told behind the thread's end.
    let ts = Timestamp::new(MS);
    let waits = Call { tid: 7, pid: Some(7), ts, ..Call::new("futex", "0x7f10, FUTEX_WAIT, 8, NULL") };
    facts.push(Event::Call(&waits));
    facts.finish();
    let threads: Vec<u32> = facts.world.threads.processes().map(|(_, process)| process.threads).collect();
    assert_eq!(threads, [2]);
}
