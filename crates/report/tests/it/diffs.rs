//! Comparisons built by hand.

#![allow(dead_code, unreachable_pub, reason = "each test uses its part of the fixtures")]

use whyslow_model::{Diff, FigureChange, FindingChange, Nanos, Severity};

/// The first case: `TZ` set, the stats gone.
pub fn tz_fixed() -> Diff {
    let figure = |name: &str, unit, before, after, ratio, beyond_noise, change: &str| FigureChange {
        name: name.into(),
        unit,
        before,
        after,
        ratio,
        beyond_noise,
        change: change.into(),
    };
    let change = |id, title: &str, before, after, change: &str| FindingChange {
        id,
        title: title.into(),
        before,
        after,
        share_before: Some(0.8907),
        share_after: None,
        measurements: Vec::new(),
        change: change.into(),
    };
    Diff {
        schema: Diff::SCHEMA,
        outcome: whyslow_model::DiffOutcome::Better,
        verdict: "The stat storm is gone; 5.0x the files written, in an unknown time.".into(),
        before_ns: Nanos::UNKNOWN,
        after_ns: Nanos::UNKNOWN,
        gone: vec![change(
            "tz-stat-storm",
            "/etc/localtime is checked 200,135 times",
            Some(Severity::Critical),
            None,
            "200,135 stat calls -> 0",
        )],
        new: Vec::new(),
        kept: vec![],
        unknown: vec![change("small-writes", "writes of 80 bytes", Some(Severity::Warning), None, "")],
        figures: vec![
            figure("write calls", "count", Some(523.0), Some(2_599.0), Some(4.969), Some(true), "5.0x"),
            figure("stat calls per write", "ratio", Some(382.667), Some(0.0), Some(0.0), Some(true), "gone"),
            figure("system time", "ns", Some(1_523_000_000.0), None, None, None, "unknown after"),
        ],
        refusals: vec!["a rate: the length of neither window is known (strace -c without -w)".into()],
    }
}

/// A comparison whose every text is `text`, and whose figures are `figure`.
pub fn diff_filled_with(text: &str, figure: f64) -> Diff {
    let mut diff = tz_fixed();
    diff.verdict = text.into();
    diff.refusals = vec![text.into()];
    diff.new = diff.gone.clone();
    diff.kept = diff.gone.clone();
    for change in diff.gone.iter_mut().chain(&mut diff.new).chain(&mut diff.kept).chain(&mut diff.unknown) {
        (change.title, change.change) = (text.into(), text.into());
        change.share_after = Some(figure);
    }
    for (one, unit) in diff.figures.iter_mut().zip(["count", "ns", "bytes"]) {
        (one.name, one.change, one.unit) = (text.into(), text.into(), unit);
        (one.before, one.after, one.ratio) = (Some(figure), Some(-figure), Some(figure));
    }
    diff
}
