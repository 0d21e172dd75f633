//! One figure of two captures: the change as a value, and in words.

use super::noise;
use super::windows::Windows;
use crate::words;
use whyslow_model::{FigureChange, Nanos};

pub(super) const NO_CHANGE: &str = "no change beyond noise";

/// A count in both windows; the ratio is of the bare counts, the words say in what time.
pub(super) fn counted(name: &str, before: u64, after: u64, windows: &Windows) -> FigureChange {
    let differs = noise::counts_differ(before, after, windows.exposure());
    let bare = change_words(before as f64, after as f64);
    let change = match windows.lengths() {
        _ if before == after => "the same".to_string(),
        None if differs && before > 0 && after > 0 => format!("{bare} in an unknown time"),
        Some(_) if differs && !windows.whole_runs && before > 0 && after > 0 => {
            format!("{bare}; {} per second", times(after as f64 / (before as f64 * windows.exposure())))
        }
        _ if differs => bare,
        _ => NO_CHANGE.to_string(),
    };
    FigureChange {
        name: name.to_string(),
        unit: "count",
        before: Some(before as f64),
        after: Some(after as f64),
        ratio: (before > 0).then(|| after as f64 / before as f64),
        beyond_noise: Some(differs),
        change,
    }
}

pub(super) fn timed(name: &str, before: f64, after: f64) -> FigureChange {
    let differs = noise::times_differ(before, after);
    FigureChange {
        name: name.to_string(),
        unit: "ns",
        before: Some(before.round()),
        after: Some(after.round()),
        ratio: (before > 0.0).then(|| after / before),
        beyond_noise: Some(differs),
        change: if differs { change_words(before, after) } else { NO_CHANGE.to_string() },
    }
}

pub(super) fn unchanged(figure: FigureChange) -> FigureChange {
    FigureChange { beyond_noise: Some(false), change: NO_CHANGE.to_string(), ..figure }
}

/// `Total time 18.5x less (2 min 43 s -> 8.81 s)`.
pub(super) fn sentence(figure: &FigureChange) -> String {
    let shown = |ns: Option<f64>| ns.map_or(Nanos::UNKNOWN, |ns| Nanos::new(ns as u64));
    let mut text =
        format!("{} {} ({} -> {})", figure.name, figure.change, shown(figure.before), shown(figure.after));
    if let Some(first) = text.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    text
}

pub(super) fn change_words(before: f64, after: f64) -> String {
    if before == after {
        "the same".to_string()
    } else if before == 0.0 {
        "new".to_string()
    } else if after == 0.0 {
        "none any more".to_string()
    } else {
        times(after / before)
    }
}

/// `5.0x`, `18.5x less`.
pub(super) fn times(ratio: f64) -> String {
    let shown = |ratio: f64| {
        if ratio < 99.95 { format!("{ratio:.1}x") } else { format!("{}x", words::quantity(ratio.round())) }
    };
    if ratio >= 1.0 { shown(ratio) } else { format!("{} less", shown(1.0 / ratio)) }
}
