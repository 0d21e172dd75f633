//! The source case's series: text tables of a Go agent, and the same with runs of known length and work.

use super::*;
use crate::kinds::{Account, FlatRow, TableRows};

fn table(name: &str, total: f64, rows: &[(&str, f64, f64)]) -> SeriesStep {
    let rows = rows.iter().map(|(name, flat, cum)| FlatRow { name, flat: flat * 1e9, cum: cum * 1e9 });
    let account = Account::of_table(&TableRows { rows: rows.collect(), total: total * 1e9 });
    let measured = Measured { measure: Measure::Cpu, unit: "nanoseconds".to_string() };
    SeriesStep {
        name: name.to_string(),
        program: None,
        account,
        measured,
        taken_ns: None,
        seconds: None,
        samples: None,
        busiest_thread: None,
        work: None,
    }
}

/// A run that took a sample every 10 ms: so many in each of the program's functions.
pub(super) fn run(functions: &[(&str, i64)], seconds: f64, work: Option<f64>) -> SeriesStep {
    let text: String =
        functions.iter().map(|(name, samples)| format!("main.main;{name} {samples}\n")).collect();
    let loaded = crate::formats::read(text.as_bytes(), "run", Default::default()).unwrap();
    SeriesStep { seconds: Some(seconds), work, ..SeriesStep::of("run", &loaded).unwrap() }
}

fn baseline() -> SeriesStep {
    table(
        "1-baseline",
        128.40,
        &[
            ("syscall.Syscall", 43.01, 43.44),
            ("strings.FieldsFunc", 12.67, 35.30),
            ("runtime.futex", 3.87, 3.87),
            ("scanblock", 5.93, 5.93),
            ("nux.readTcp", 0.20, 61.55),
        ],
    )
}

fn locked() -> SeriesStep {
    table(
        "2-lock-all",
        261.51,
        &[("GC", 0.0, 77.26), ("runtime.futex", 54.47, 54.47), ("syscall.Syscall", 47.87, 48.24)],
    )
}

#[test]
fn shares_are_compared_and_raw_seconds_are_not() {
    let compared = compare(&[baseline(), locked()], None).unwrap();
    assert_eq!(compared.basis, Basis::Share);
    let change = &compared.changes[0];
    assert_eq!(change.outcome, StepOutcome::Worse);
    assert!(change.text.contains("runtime.futex 3.0 % -> 21 % (6.9x), +17.8 points"), "{}", change.text);
    assert!(change.text.contains("garbage collection 4.6 % -> 30 %"), "{}", change.text);
    assert!(change.text.contains("a lock"), "{}", change.text);
    assert_eq!(compared.best, None);
    assert!(compared.refusals[0].contains("How much faster is not said"));
    assert!(!compared.text().contains("2.0x"), "128 s and 261 s are of runs of unknown length");
    // A function that the other table does not show is unknown, not zero.
    let fields = compared.functions.iter().find(|row| row.name == "strings.FieldsFunc").unwrap();
    assert_eq!(fields.shares[1], None);
}

#[test]
fn time_a_second_and_a_unit_of_work() {
    let with = |mut step: SeriesStep, seconds: f64, work: Option<f64>| {
        (step.seconds, step.work) = (Some(seconds), work);
        step
    };
    // The second ran twice as long: 128.4 s of 100 s and 261.5 s of 200 s are nearly equal.
    let compared = compare(&[with(baseline(), 100.0, None), with(locked(), 200.0, None)], None).unwrap();
    assert_eq!((compared.basis, compared.changes[0].outcome), (Basis::Second, StepOutcome::Same));

    // Less CPU because less was done.
    let steps = [with(baseline(), 100.0, Some(1000.0)), with(locked(), 300.0, Some(2000.0))];
    let compared = compare(&steps, Some("requests")).unwrap();
    assert_eq!((compared.basis, compared.changes[0].outcome), (Basis::Work, StepOutcome::Same));
    assert!(compared.refusals[0].contains("Step 2 did less work: 10.0 requests per second before, 6.7 now."));
}

#[test]
fn few_samples_prove_nothing() {
    let two = run(&[("main.parse", 3)], 10.0, None);
    let three = run(&[("main.parse", 2)], 10.0, None);
    let compared = compare(&[two, three], None).unwrap();
    assert_eq!((compared.changes[0].outcome, compared.best), (StepOutcome::Same, None));
    assert!(compared.changes[0].text.ends_with("no change beyond noise"), "{}", compared.changes[0].text);
    assert!(compared.text().contains("best: none, beyond noise."), "{}", compared.text());

    // Ten points of a hundred samples are chance, of ten thousand not.
    let told = |samples: i64| {
        let before = run(&[("main.parse", samples / 2), ("main.send", samples / 2)], 10.0, None);
        let after = run(&[("main.parse", samples * 6 / 10), ("main.send", samples * 4 / 10)], 10.0, None);
        let compared = compare(&[before, after], None).unwrap();
        let row = compared.functions.iter().find(|row| row.name == "main.parse").unwrap();
        (row.beyond_chance, compared.changes[0].text.contains("main.send 50 % -> 40 %"))
    };
    assert_eq!((told(100), told(10_000)), ((Some(false), false), (Some(true), true)));
}

#[test]
fn less_of_everything_is_less_work() {
    let before = run(&[("main.parse", 800), ("main.send", 800)], 10.0, None);
    let less = run(&[("main.parse", 200), ("main.send", 205)], 10.0, None);
    let compared = compare(&[before.clone(), less], None).unwrap();
    assert_eq!(compared.changes[0].outcome, StepOutcome::Unknown);
    assert!(
        compared.changes[0].text.contains("less was done rather than faster"),
        "{}",
        compared.changes[0].text
    );

    let faster = run(&[("main.parse", 100), ("main.send", 805)], 10.0, None);
    let compared = compare(&[before, faster], None).unwrap();
    assert_eq!(compared.changes[0].outcome, StepOutcome::Better);
    assert!(compared.refusals[0].contains("can also be less work"));
}

#[test]
fn profiles_of_different_things_are_refused() {
    let mut heap = locked();
    heap.measured = Measured { measure: Measure::MemoryInUse, unit: "bytes".to_string() };
    let refused = compare(&[baseline(), heap], None).unwrap_err();
    assert!(refused.to_string().contains("is a profile of CPU in nanoseconds"), "{refused}");
    assert_eq!(compare(&[baseline()], None).unwrap_err(), CompareError::TooFew);
}
