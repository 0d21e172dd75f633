//! Figures of the host as people read them, and the lines on which they stand as evidence.

use crate::words;
use whyslow_model::{Metric, Nanos, Unit};

/// A figure with its unit: `98.4 %`, `33.7 MB/s`, `18.1 s`.
pub fn figure(metric: Metric, value: f64) -> String {
    let whole = value.max(0.0).round() as u64;
    match metric.unit() {
        Unit::Share => words::percent(value),
        Unit::SecondsPerSecond => format!("{} s/s", words::quantity(value)),
        Unit::PerSecond => format!("{}/s", words::quantity(value)),
        Unit::BytesPerSecond => format!("{}/s", words::bytes(whole)),
        Unit::Bytes => words::bytes(whole),
        Unit::Nanos => Nanos::new(whole).to_string(),
        Unit::Count => words::quantity(value),
    }
}

/// What was counted so far, with its unit: `4,123`, `33.7 MB`, `12 s`.
pub fn counted(metric: Metric, value: f64) -> String {
    match metric.unit() {
        Unit::BytesPerSecond => words::bytes(value.max(0.0).round() as u64),
        Unit::SecondsPerSecond => format!("{} s", words::quantity(value)),
        _ => words::count(value.max(0.0).round() as u64),
    }
}

/// A metric's name in a sentence: `write latency`.
pub fn metric_words(metric: Metric) -> String {
    metric.name().replace('_', " ")
}
