//! Time in which calls were given up for their cost, and waits that had not ended as the recording did.

use super::*;
use whyslow_model::{
    Call, CallFlags, Coverage, Event, Known, LeftAs, Nanos, RecordedSpan, Ret, Sink, Stretch, TimeState,
    Timestamp,
};

const US: u64 = 1_000;
const BEGAN: u64 = 1_000_000_000;

fn at(us: u64) -> Timestamp {
    Timestamp::new(BEGAN + us * US)
}

fn span(facts: &mut Facts, from_us: u64, to_us: u64, calls: Coverage) {
    facts.push(Event::Span(RecordedSpan { from: at(from_us), to: at(to_us), calls }));
}

/// A thread that sleeps for 80 us in a call and runs for 20 us, over and over: `calls` of these are recorded, and for a second as much is
/// known by the scheduler alone. The rows of its account: state, ms, how well they are known.
fn of_storm(calls: u64, gap: Coverage) -> Vec<(TimeState, u64, Known)> {
    let mut facts = Facts::default();
    span(&mut facts, 0, calls * 100, Coverage::Full);
    span(&mut facts, calls * 100, 1_000_000, gap);
    for turn in 0..10_000 {
        let from = turn * 100;
        if turn < calls {
            let mut call = Call::new("poll", "[{fd=5, events=POLLIN}], 1, 1000");
            (call.tid, call.pid) = (7, Some(7));
            (call.ts, call.dur, call.ret) = (at(from), Nanos::new(80 * US), Ret::Value(1));
            facts.push(Event::Call(&call));
        }
        facts.push(Event::Stretch(Stretch {
            cpu: 0,
            pid: 7,
            tid: 7,
            ts: at(from + 80),
            on_cpu: Nanos::new(20 * US),
            runnable: Nanos::ZERO,
            blocked: Nanos::new(80 * US),
            left_as: LeftAs::Sleeping,
        }));
    }
    facts.finish();
    let account = account(&facts).unwrap();
    let mut rows: Vec<_> =
        account.rows.iter().map(|row| (row.state, row.ns / 1_000_000, row.known)).collect();
    rows.retain(|(_, ms, _)| *ms > 50);
    assert_eq!(account.rows.iter().map(|row| row.ns).sum::<u64>(), account.ns);
    rows
}

#[test]
fn what_was_slept_while_nobody_looked_is_given_out_by_what_was_seen() {
    let rows = of_storm(200, Coverage::None);
    assert_eq!(rows[0], (TimeState::Poll, 800, Known::InProportion), "{rows:?}");
    assert!(rows.iter().all(|(state, ..)| *state != TimeState::Unknown), "{rows:?}");
    // All in one call: of fifty, what is of another call is less than 6 %.
    assert_eq!(of_storm(50, Coverage::None)[0], rows[0]);
}

#[test]
fn few_calls_are_no_sample_and_calls_that_were_counted_are_no_gap() {
    for (calls, gap) in [(10, Coverage::None), (200, Coverage::Counts)] {
        let rows = of_storm(calls, gap);
        assert!(rows.iter().any(|(state, ms, _)| *state == TimeState::Unknown && *ms > 700), "{rows:?}");
    }
}

#[test]
fn who_sleeps_until_the_recording_ends_does_not_compute() {
    let mut facts = Facts::default();
    facts.push(Event::Stretch(Stretch {
        cpu: 0,
        pid: 7,
        tid: 7,
        ts: at(0),
        on_cpu: Nanos::new(100 * US),
        runnable: Nanos::ZERO,
        blocked: Nanos::ZERO,
        left_as: LeftAs::Sleeping,
    }));
    let mut call = Call::new("clock_nanosleep", "CLOCK_REALTIME, 0, {tv_sec=3, tv_nsec=0}, NULL");
    (call.tid, call.pid, call.ts, call.flags) = (7, Some(7), at(90), CallFlags::END_NOT_SEEN);
    facts.push(Event::Call(&call));
    span(&mut facts, 0, 2_000_000, Coverage::Full);
    facts.finish();
    let (from, to) = (at(0), at(2_000_000));
    let path = whyslow_chain::Explainer::new(&facts).path(7, from, to);
    assert!(path.of(whyslow_chain::PathKind::Timer) > 1_900_000_000, "{:?}", path.segments);
}
