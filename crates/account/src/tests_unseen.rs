//! What threads wait for while calls are not recorded.

use super::*;
use whyslow_model::{
    Call, Coverage, Event, Known, LeftAs, Nanos, RecordedSpan, Ret, SampleKind, SampledStack, Sink, Stack,
    StackFrame, StackId, Stretch, TimeState, Timestamp,
};

const MS: u64 = 1_000_000;

type Row = (TimeState, Option<String>, u64, Known);

/// A thread that sleeps 90 ms of each 100 ms for two seconds of which calls were hardly recorded. So many of its
/// waits have a stack, in that call.
fn sleeper(call: &str, stacks: u64, gave_up: Coverage) -> Vec<Row> {
    asleep(&format!("__x64_sys_{call}"), stacks, gave_up, LeftAs::Sleeping)
}

/// The same in that function of the kernel.
fn asleep(function: &str, stacks: u64, gave_up: Coverage, left_as: LeftAs) -> Vec<Row> {
    let mut facts = Facts::default();
    let frames = ["schedule", function, "do_syscall_64"].map(|function| StackFrame {
        function: Some(function.to_string()),
        module: Some("[kernel]".to_string()),
        ..StackFrame::default()
    });
    facts.push(Event::Stack(Stack { id: StackId(1), frames: frames.to_vec(), cut: false }));
    let mut first = Call::new("getpid", "");
    (first.tid, first.pid, first.ret) = (1, Some(1), Ret::Value(1));
    (first.ts, first.dur) = (Timestamp::new(1_000 * MS), Nanos::new(1_000));
    facts.push(Event::Call(&first));
    for round in 0..20 {
        let ts = Timestamp::new((1_090 + round * 100) * MS);
        facts.push(Event::Stretch(Stretch {
            ts,
            cpu: 0,
            pid: 1,
            tid: 1,
            left_as,
            on_cpu: Nanos::new(10 * MS),
            runnable: Nanos::ZERO,
            blocked: Nanos::new(90 * MS),
        }));
        if round < stacks {
            facts.push(Event::Sample(SampledStack {
                kind: SampleKind::OffCpu,
                ts,
                cpu: 0,
                pid: 1,
                tid: 1,
                weight: Nanos::new(90 * MS),
                user: None,
                kernel: Some(StackId(1)),
            }));
        }
    }
    let at = |ms: u64| Timestamp::new(ms * MS);
    for (from, to, calls) in [(1_000, 1_001, Coverage::Full), (1_001, 3_000, gave_up)] {
        facts.push(Event::Span(RecordedSpan { from: at(from), to: at(to), calls }));
    }
    facts.finish();
    let account = account(&facts).expect("an account");
    assert_eq!(account.rows.iter().map(|row| row.ns).sum::<u64>(), account.ns);
    let rows = account.rows.iter().map(|row| (row.state, row.call.clone(), row.ns / MS, row.known));
    rows.filter(|row| row.2 > 10).collect()
}

#[test]
fn the_stacks_of_waits_tell_in_which_call_that_nobody_recorded() {
    let rows = sleeper("clock_nanosleep", 8, Coverage::None);
    // All but the microsecond of the first call.
    let sleeps = (TimeState::Timer, Some("clock_nanosleep".to_string()), 1_799, Known::InProportion);
    assert!(rows.contains(&sleeps), "{rows:?}");
    assert!(rows.iter().all(|row| row.0 != TimeState::Unknown), "{rows:?}");
}

#[test]
fn too_few_stacks_tell_nothing_and_neither_do_calls_that_were_all_recorded() {
    for (stacks, coverage) in [(4, Coverage::None), (8, Coverage::Full)] {
        let rows = sleeper("clock_nanosleep", stacks, coverage);
        assert!(rows.iter().any(|row| row.0 == TimeState::Unknown && row.2 >= 1_600), "{rows:?}");
        assert!(rows.iter().all(|row| row.0 != TimeState::Timer), "{rows:?}");
    }
}

#[test]
fn sleep_that_no_signal_ends_is_for_pages_only_where_no_call_can_be_behind_it() {
    let deep = |function: &str, stacks, coverage| asleep(function, stacks, coverage, LeftAs::Uninterruptible);
    let has = |rows: &[Row], state: TimeState, call: Option<&str>, known: Known| {
        rows.iter().any(|row| row.0 == state && row.1.as_deref() == call && row.2 >= 1_700 && row.3 == known)
    };
    let rows = deep("__x64_sys_fsync", 8, Coverage::None);
    assert!(has(&rows, TimeState::File, Some("fsync"), Known::InProportion), "{rows:?}");
    let rows = deep("handle_mm_fault", 8, Coverage::None);
    assert!(has(&rows, TimeState::PageFault, None, Known::InProportion), "{rows:?}");
    // Nothing tells what it was, or no call was.
    let rows = deep("__x64_sys_fsync", 0, Coverage::None);
    assert!(has(&rows, TimeState::Unknown, None, Known::Exact), "{rows:?}");
    let rows = deep("__x64_sys_fsync", 8, Coverage::Full);
    assert!(has(&rows, TimeState::PageFault, None, Known::Exact), "{rows:?}");
}
