//! Where calls are counted: few are recorded one by one all the same, and of many all are counted.

use super::{Seen, TIMES, only, record};
use whyslow_model::Coverage;
use whyslow_record::{Mode, Options};

/// More than a CPU records in the time that they take.
const MANY: usize = 20_000;

fn counting(few_in_full: bool) -> Options {
    only(|options| {
        options.mode = Mode::Counts;
        options.few_in_full = few_in_full;
    })
}

/// What was recorded of a call that nothing else here makes.
fn recorded(times: usize, few_in_full: bool) -> Option<Seen> {
    let work = move || (0..times).for_each(|_| _ = rustix::process::getppid());
    record(counting(few_in_full), work, |_| ()).map(|(seen, ..)| seen)
}

#[test]
fn few_calls_are_recorded_one_by_one() {
    let Some(seen) = recorded(TIMES, true) else { return };
    assert_eq!(seen.calls.get("getppid"), Some(&(TIMES as u64)), "{:?}", seen.calls);
    assert!(seen.counted.is_empty(), "{:?}", seen.counted);
    assert_eq!(seen.coverage, [Coverage::Full]);
}

#[test]
fn of_many_calls_all_are_counted_also_those_recorded_before_that_showed() {
    let Some(seen) = recorded(MANY, true) else { return };
    assert_eq!(seen.calls.get("getppid"), None, "{:?}", seen.calls);
    assert_eq!(seen.counted.get("getppid"), Some(&(MANY as u64)), "{:?}", seen.counted);
    assert_eq!(seen.coverage, [Coverage::Counts]);
    let rows = seen.calls.values().sum::<u64>() + (seen.unfinished.len() + seen.began_before.len()) as u64;
    assert_eq!(seen.calls_told, (0, rows));
}

#[test]
fn who_wants_counts_alone_has_them_of_few_calls_too() {
    let Some(seen) = recorded(TIMES, false) else { return };
    assert_eq!(seen.calls.get("getppid"), None, "{:?}", seen.calls);
    assert_eq!(seen.counted.get("getppid"), Some(&(TIMES as u64)), "{:?}", seen.counted);
    assert_eq!(seen.coverage, [Coverage::Counts]);
}
