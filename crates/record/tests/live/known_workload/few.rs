//! Where calls are counted: few are recorded one by one all the same, and of many all are counted.

use super::{Seen, TIMES, only, record};
use std::time::{Duration, Instant};
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

/// Waits of so many milliseconds, one after the other, while calls are counted: how many are recorded one by one, and how many are counted. The
/// last value is how many a lasting recording may record in that time.
fn waits(lasting: bool, times: usize, length: Duration) -> Option<(u64, u64, u64)> {
    let mut options = counting(false);
    options.lasting = lasting;
    let begin = Instant::now();
    let (seen, ..) = record(options, move || (0..times).for_each(|_| std::thread::sleep(length)), |_| ())?;
    // SLOW_CALLS in a DETAIL_SLICE of each CPU (programs/calls/detail.bpf.h), and in those that are begun.
    let slices = begin.elapsed().as_millis() as u64 / 100 + 2;
    let cpus = std::thread::available_parallelism().map_or(1, |cpus| cpus.get() as u64);
    let of =
        |calls: &std::collections::BTreeMap<String, u64>| calls.get("clock_nanosleep").copied().unwrap_or(0);
    Some((of(&seen.calls), of(&seen.counted), 10 * slices * cpus))
}

#[test]
fn of_many_slow_calls_a_lasting_recording_records_few_and_counts_the_others() {
    const WAITS: usize = 500;
    let length = Duration::from_millis(2);
    let Some((recorded, counted, most)) = waits(true, WAITS, length) else { return };
    assert_eq!(recorded + counted, WAITS as u64, "{recorded} + {counted}");
    assert!(recorded >= 10 && recorded <= most && counted > 0, "{recorded} of {most}, {counted} counted");
    let Some((recorded, counted, _)) = waits(false, WAITS, length) else { return };
    assert_eq!((recorded, counted), (WAITS as u64, 0));
}

#[test]
fn a_lasting_recording_records_each_very_slow_call() {
    let Some((recorded, counted, _)) = waits(true, 2, Duration::from_millis(1010)) else { return };
    assert_eq!((recorded, counted), (2, 0));
}
