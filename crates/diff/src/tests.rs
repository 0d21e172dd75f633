use super::*;
use whyslow_model::{
    Call, CountRow, CountTable, Event, Exit, Nanos, Ret, Sink, SourceId, TimeKind, Timestamp,
};

/// A table of counts, as `strace -c` prints it.
fn table(rows: &[(&str, u64)]) -> Facts {
    let mut facts = Facts::default();
    let row = |(name, calls): &(&str, u64)| CountRow {
        name: name.to_string(),
        calls: Some(*calls),
        errors: Some(0),
        total: Nanos::new(calls * 50),
        min: Nanos::UNKNOWN,
        max: Nanos::UNKNOWN,
        mean: Nanos::UNKNOWN,
        line: 1,
        raw: String::new(),
    };
    facts.push(Event::Counts(CountTable {
        source: SourceId(0),
        time: TimeKind::SystemCpu,
        library: false,
        rows: rows.iter().map(row).collect(),
        stated_calls: None,
        stated_total: Nanos::UNKNOWN,
    }));
    facts.finish();
    facts
}

/// A program from its start to its end: `writes` to one file, each after `every` ns.
fn run(writes: u64, every: u64, ends: bool) -> Facts {
    calls("write", "3, \"0123456789\", 10", 10, writes, every, ends)
}

/// Likewise, of any call.
fn calls(name: &str, args: &str, ret: i64, times: u64, every: u64, ends: bool) -> Facts {
    let mut facts = Facts::default();
    let mut now = 0;
    let mut push = |name: &str, args: &str, ret: i64, at: u64| {
        let mut call = Call::new(name, args);
        (call.tid, call.ts, call.dur) = (7, Timestamp::new(at), Nanos::new(1_000));
        call.ret = Ret::Value(ret);
        facts.push(Event::Call(&call));
    };
    push("execve", "\"/bin/x\", [\"x\"], 0x7 /* 1 var */", 0, now);
    push("openat", "AT_FDCWD, \"/tmp/out\", O_WRONLY|O_CREAT, 0644", 3, now);
    for _ in 0..times {
        now += every;
        push(name, args, ret, now);
    }
    if ends {
        let exit = Exit {
            source: SourceId(0),
            line: 1,
            tid: 7,
            ts: Timestamp::new(now),
            status: Some(0),
            signal: None,
        };
        facts.push(Event::Exit(exit));
    }
    facts.finish();
    facts
}

fn compare(before: &Facts, after: &Facts) -> Diff {
    let (old, new) = (whyslow_diagnose::diagnose(before), whyslow_diagnose::diagnose(after));
    diff(DiffSide { facts: before, diagnosis: &old }, DiffSide { facts: after, diagnosis: &new })
}

fn change<'d>(diff: &'d Diff, name: &str) -> &'d str {
    diff.figures.iter().find(|figure| figure.name == name).map_or("(no such figure)", |figure| &figure.change)
}

#[test]
fn tables_give_work_but_no_speed() {
    let before = table(&[("stat", 200_135), ("write", 523), ("read", 129), ("rename", 5)]);
    let after = table(&[("write", 2_599), ("read", 664), ("rename", 25)]);
    let diff = compare(&before, &after);
    assert_eq!(change(&diff, "write calls"), "5.0x in an unknown time");
    assert_eq!(change(&diff, "stat calls"), "none any more");
    assert_eq!(change(&diff, "stat calls per rename"), "none any more");
    assert!(diff.verdict.contains("5.0x the files (renames 5 -> 25)"), "{}", diff.verdict);
    assert!(diff.verdict.contains("in an unknown time"), "{}", diff.verdict);
    assert!(diff.refusals[0].starts_with("No rate and no speed-up is claimed"), "{:?}", diff.refusals);
    let all = format!("{diff:?}");
    assert!(
        !all.contains("per second;")
            && !all.contains("faster")
            && !diff.figures.iter().any(|f| f.unit == "ns")
    );
}

#[test]
fn equal_inputs_show_no_change() {
    for facts in
        [table(&[("stat", 200_135), ("write", 523)]), run(500, 1_000_000, true), run(500, 1_000_000, false)]
    {
        let diff = compare(&facts, &facts);
        assert!(diff.verdict.starts_with("Unchanged. No change beyond noise"), "{}", diff.verdict);
        assert!(diff.figures.iter().all(|figure| figure.beyond_noise != Some(true)));
        assert!(diff.gone.is_empty() && diff.new.is_empty());
    }
}

#[test]
fn whole_runs_compare_their_time() {
    let diff = compare(&run(1_000, 163_172_000, true), &run(1_000, 8_810_000, true));
    assert_eq!(change(&diff, "total time"), "18.5x less");
    assert_eq!(change(&diff, "time per write"), "18.5x less");
    assert_eq!(change(&diff, "write calls"), "the same");
    assert!(
        diff.verdict.starts_with("Better. Total time 18.5x less (2 min 43 s -> 8.81 s)"),
        "{}",
        diff.verdict
    );
    assert!(diff.refusals.is_empty());
}

/// A program that works for a fixed time shows its gain in what it gets done.
#[test]
fn more_results_in_the_same_time_are_told() {
    let files =
        |count| calls("rename", "\"/tmp/part\", \"/tmp/done\"", 0, count, 2_000_000_000 / count, true);
    let diff = compare(&files(40), &files(1_000));
    let told = "Work done: 25.0x the files (renames 40 -> 1,000) in the same time";
    assert!(diff.verdict.contains(told), "{}", diff.verdict);
    assert!(!compare(&files(1_000), &files(40)).verdict.contains("Work done"));
}

#[test]
fn a_longer_window_is_no_change() {
    let diff = compare(&run(1_000, 1_000_000, false), &run(2_000, 1_000_000, false));
    assert!(diff.verdict.starts_with("Unchanged. No change beyond noise"), "{}", diff.verdict);
    let diff = compare(&run(1_000, 1_000_000, false), &run(1_000, 500_000, false));
    assert_eq!(change(&diff, "write calls"), "the same");
    assert_eq!(change(&diff, "time per write"), "2.0x less");
}

#[test]
fn nothing_done_cures_nothing() {
    let diff = compare(&run(1_000, 1_000_000, true), &run(0, 1, true));
    assert!(diff.refusals.iter().any(|text| text.contains("shows no work done")), "{:?}", diff.refusals);
    assert_eq!(diff.outcome, DiffOutcome::Unknown);
}

#[test]
fn the_outcome_is_judged_by_the_time_of_what_users_get() {
    let files = |count, every| calls("rename", "\"/tmp/part\", \"/tmp/done\"", 0, count, every, false);
    let outcome = |before: &Facts, after: &Facts| compare(before, after).outcome;
    let (slow, fast) = (files(40, 50_000_000), files(1_000, 2_000_000));
    assert_eq!(outcome(&slow, &fast), DiffOutcome::Better);
    assert_eq!(outcome(&fast, &slow), DiffOutcome::Worse);
    assert_eq!(outcome(&fast, &fast), DiffOutcome::Unchanged);
    // Whole runs: less time for fewer results proves nothing.
    let whole = |count| calls("rename", "\"/tmp/part\", \"/tmp/done\"", 0, count, 2_000_000, true);
    assert_eq!(outcome(&whole(1_000), &whole(100)), DiffOutcome::Unknown);
    assert_eq!(outcome(&run(1_000, 8_000_000, true), &run(1_000, 163_000_000, true)), DiffOutcome::Worse);
    // No time is known: what was found, where no less was done.
    let before = table(&[("stat", 200_135), ("write", 523), ("rename", 5)]);
    let after = table(&[("write", 2_599), ("rename", 25)]);
    assert_eq!(outcome(&before, &after), DiffOutcome::Better);
    assert_eq!(outcome(&after, &before), DiffOutcome::Worse);
}

#[test]
fn what_shows_after_a_gain_is_what_limits_now() {
    let found = FindingChange {
        id: "cpu-bound",
        title: "a thread computes".to_string(),
        before: None,
        after: Some(Severity::Warning),
        share_before: None,
        share_after: Some(0.9),
        measurements: Vec::new(),
        change: String::new(),
    };
    let changes =
        findings::Changes { gone: Vec::new(), new: vec![found], kept: Vec::new(), unknown: Vec::new() };
    let told = |outcome| verdict(outcome, &changes, &Figures::default(), false, None);
    assert_eq!(told(DiffOutcome::Better), "Better. Now limited by: cpu-bound: a thread computes.");
    assert_eq!(told(DiffOutcome::Worse), "Worse. New: cpu-bound: a thread computes.");
}

#[test]
fn a_finding_of_both_is_compared_by_what_was_measured() {
    use whyslow_model::Measurement;
    let facts = table(&[("stat", 200_135), ("write", 523), ("rename", 5)]);
    let of = |fsyncs: f64, turns: u64| {
        let mut diagnosis = whyslow_diagnose::diagnose(&facts);
        let finding = diagnosis.findings.iter_mut().find(|finding| finding.severity > Severity::Notice);
        finding.expect("a storm is found").measurements = vec![
            Measurement::count("turns", turns),
            Measurement::per_second("fsyncs", fsyncs).at_least(100.0),
        ];
        diagnosis
    };
    let told = |before: &Diagnosis, after: &Diagnosis| {
        let diff =
            diff(DiffSide { facts: &facts, diagnosis: before }, DiffSide { facts: &facts, diagnosis: after });
        let change = diff.kept.iter().find(|change| change.measurements.len() == 2).expect("kept");
        (change.change.clone(), change.measurements[1].before, diff.verdict)
    };
    let (change, before, verdict) = told(&of(2_114.0, 9_000), &of(130.0, 400));
    assert_eq!(change, "fsyncs per second 2,114 -> 130 (reported from 100)");
    assert_eq!(before, Some(2_114.0));
    assert!(verdict.contains("fsyncs per second 2,114 -> 130"), "{verdict}");
    // Equal runs, and a bare count, which tells as much of the window.
    let (change, _, verdict) = told(&of(2_114.0, 9_000), &of(2_080.0, 400));
    assert_eq!(change, "no change beyond noise");
    assert!(verdict.starts_with("Unchanged."), "{verdict}");
}

#[test]
fn fewer_results_in_a_shorter_window_are_told_by_the_second() {
    let files = |count, every| calls("rename", "\"/tmp/part\", \"/tmp/done\"", 0, count, every, false);
    // 1,000 in 10 s, and 600 in 3 s.
    let diff = compare(&files(1_000, 10_000_000), &files(600, 5_000_000));
    assert!(diff.verdict.contains("2.0x the files a second (renames 1,000 -> 600)"), "{}", diff.verdict);
    assert_eq!(diff.outcome, DiffOutcome::Better);
}

/// Two diagnoses that differ in the share of one finding, of what it is, and of what the finding is about.
fn shares(before: (f64, &str, &str), after: (f64, &str, &str)) -> Diff {
    let facts = table(&[("stat", 200_135), ("write", 523), ("rename", 5)]);
    let of = |(share, of, path): (f64, &str, &str)| {
        let mut diagnosis = whyslow_diagnose::diagnose(&facts);
        diagnosis.findings.retain(|finding| finding.severity > Severity::Notice);
        diagnosis.findings.truncate(1);
        let finding = diagnosis.findings.first_mut().expect("a storm is found");
        (finding.share, finding.share_of) = (Some(share), of.into());
        finding.share_whole = whyslow_model::ShareWhole::Time;
        finding.subject.path = Some(path.to_string()).filter(|path| !path.is_empty());
        finding.also.clear();
        diagnosis
    };
    let (old, new) = (of(before), of(after));
    diff(DiffSide { facts: &facts, diagnosis: &old }, DiffSide { facts: &facts, diagnosis: &new })
}

#[test]
fn shares_of_two_wholes_or_things_are_no_more_and_no_less() {
    let told = |before, after| shares(before, after).kept[0].change.clone();
    let same = told((0.8, "wall time of thread 7", "/a"), (0.2, "wall time of thread 31", "/a"));
    assert_eq!(same, "80.0 % -> 20.0 % of wall time of thread 31");
    let threads = told(
        (0.8, "the time of the thread that waits", "/a"),
        (0.2, "the time of the 2 threads that wait", "/a"),
    );
    assert!(threads.starts_with("80.0 % -> 20.0 %"), "{threads}");
    let wholes = shares((0.8, "wall time of thread 7", "/a"), (0.2, "time of all requests served", "/a"));
    assert!(wholes.kept[0].change.ends_with("which are shares of two wholes"), "{:?}", wholes.kept);
    assert!(!wholes.verdict.contains("Less:"), "{}", wholes.verdict);
    let things = shares((0.8, "wall time", "/a"), (0.2, "wall time", ""));
    assert!(things.kept[0].change.ends_with("which are shares of two things"), "{:?}", things.kept);
    assert_eq!(things.kept[0].share_before, None);
}
