//! Chains of recordings: what a CPU quota takes, and threads that end meanwhile.

use crate::{Explainer, PathKind};
use proptest::prelude::*;
use whyslow_facts::Facts;
use whyslow_model::{
    Call, Entity, Event, Exit, FigureRow, FigureTable, LeftAs, Metric, Nanos, Over, Ret, SampleKind,
    SampledStack, Sink, SourceId, Stretch, Timestamp, Trait,
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
