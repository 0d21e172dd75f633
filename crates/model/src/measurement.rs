//! A figure of a finding: what was measured, in which unit, and the threshold that it passed. Titles print figures by its
//! [`Display`](fmt::Display), so that text and JSON cannot differ.

use crate::figures;
use crate::metric::Unit;
use crate::time::Nanos;
use serde::ser::SerializeStruct as _;
use serde::{Serialize, Serializer};
use std::fmt;

/// From where on a figure is worth a finding.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Threshold {
    /// This much and more.
    AtLeast(f64),
    /// This much and less.
    AtMost(f64),
}

/// One figure of a finding.
#[derive(Clone, PartialEq, Debug)]
pub struct Measurement {
    /// What was measured, by a name that stays: `bytes_per_answer`.
    pub name: &'static str,
    /// How much; `None` where it is unknown.
    pub value: Option<f64>,
    /// Of what.
    pub unit: Unit,
    /// What the rule compares it with; `None` where it only tells.
    pub threshold: Option<Threshold>,
}

impl Measurement {
    fn new(name: &'static str, value: impl Into<Option<f64>>, unit: Unit) -> Self {
        Self { name, value: value.into().filter(|value| value.is_finite()), unit, threshold: None }
    }

    /// A number of things: calls, threads, files.
    pub fn count(name: &'static str, count: u64) -> Self {
        Self::new(name, count as f64, Unit::Count)
    }

    /// A number of things that need not be whole: calls per request.
    pub fn number(name: &'static str, number: f64) -> Self {
        Self::new(name, number, Unit::Count)
    }

    /// Bytes.
    pub fn bytes(name: &'static str, bytes: u64) -> Self {
        Self::new(name, bytes as f64, Unit::Bytes)
    }

    /// A duration.
    pub fn time(name: &'static str, time: Nanos) -> Self {
        Self::new(name, time.get().map(|ns| ns as f64), Unit::Nanos)
    }

    /// A part of a whole, 0 to 1.
    pub fn share(name: &'static str, part: f64) -> Self {
        Self::new(name, part, Unit::Share)
    }

    /// Seconds a second: CPUs kept busy, threads that wait.
    pub fn seconds_per_second(name: &'static str, rate: f64) -> Self {
        Self::new(name, rate, Unit::SecondsPerSecond)
    }

    /// Things per second.
    pub fn per_second(name: &'static str, rate: f64) -> Self {
        Self::new(name, rate, Unit::PerSecond)
    }

    /// Bytes per second.
    pub fn bytes_per_second(name: &'static str, rate: f64) -> Self {
        Self::new(name, rate, Unit::BytesPerSecond)
    }

    /// The rule's threshold, in the measurement's own unit: it reports from there on.
    pub fn at_least(self, threshold: f64) -> Self {
        Self { threshold: Some(Threshold::AtLeast(threshold)), ..self }
    }

    /// The rule's threshold, in the measurement's own unit: it reports up to there.
    pub fn at_most(self, threshold: f64) -> Self {
        Self { threshold: Some(Threshold::AtMost(threshold)), ..self }
    }

    /// A value in the measurement's unit, as people read it.
    fn words(&self, value: f64) -> String {
        match self.unit {
            Unit::Nanos => Nanos::new(value.max(0.0) as u64).to_string(),
            Unit::Bytes => figures::bytes(value.max(0.0) as u64),
            Unit::Count | Unit::PerSecond | Unit::SecondsPerSecond => figures::quantity(value),
            Unit::Share => figures::percent(value),
            Unit::BytesPerSecond => format!("{}/s", figures::bytes(value.max(0.0) as u64)),
        }
    }

    /// The threshold in words: `at least 1.0 MB`.
    pub fn threshold_words(&self) -> Option<String> {
        Some(match self.threshold? {
            Threshold::AtLeast(value) => format!("at least {}", self.words(value)),
            Threshold::AtMost(value) => format!("at most {}", self.words(value)),
        })
    }

    /// All ways in which texts print the figure: durations also with their milliseconds, shares also as whole per cent and with two decimals,
    /// time a second also as a part of one CPU,
    /// bytes also in full. Its threshold too: `50 calls of 10 ms and more`.
    pub fn spellings(&self) -> Vec<String> {
        let mut spellings = vec![self.to_string()];
        if let Some(value) = self.value {
            match self.unit {
                Unit::Nanos => spellings.push(figures::duration(Nanos::new(value.max(0.0) as u64))),
                Unit::Share => {
                    spellings.extend([format!("{:.0} %", value * 100.0), format!("{:.2} %", value * 100.0)]);
                }
                Unit::Count => spellings.push(format!("{value:.0}")),
                Unit::SecondsPerSecond => spellings.push(figures::percent(value)),
                // Unread bytes are told one by one.
                Unit::Bytes => spellings.push(figures::count(value.max(0.0) as u64)),
                _ => {}
            }
        }
        if let Some(Threshold::AtLeast(value) | Threshold::AtMost(value)) = self.threshold {
            spellings.push(self.words(value));
        }
        spellings
    }
}

impl fmt::Display for Measurement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.value.map_or("unknown".to_string(), |value| self.words(value)))
    }
}

/// One figure of the same finding in two captures.
#[derive(Clone, PartialEq, Debug)]
pub struct MeasurementChange {
    /// What was measured, as [`Measurement::name`].
    pub name: &'static str,
    /// Of what.
    pub unit: Unit,
    /// Before; `None` where it is unknown or the finding was not there.
    pub before: Option<f64>,
    /// After, likewise.
    pub after: Option<f64>,
    /// What the rule compares it with.
    pub threshold: Option<Threshold>,
}

impl MeasurementChange {
    /// The figures of one side and of the other, by name; either may lack some.
    pub fn pair(before: &[Measurement], after: &[Measurement]) -> Vec<MeasurementChange> {
        let of = |list: &[Measurement], name: &str, unit: Unit| {
            list.iter()
                .find(|figure| figure.name == name && figure.unit == unit)
                .and_then(|figure| figure.value)
        };
        let mut all: Vec<MeasurementChange> = Vec::new();
        for Measurement { name, unit, threshold, .. } in before.iter().chain(after) {
            match all.iter_mut().find(|known| known.name == *name && known.unit == *unit) {
                Some(known) => known.threshold = known.threshold.or(*threshold),
                None => all.push(MeasurementChange {
                    name,
                    unit: *unit,
                    before: of(before, name, *unit),
                    after: of(after, name, *unit),
                    threshold: *threshold,
                }),
            }
        }
        all
    }

    /// `fsyncs per second 2,114 -> 130 (reported from 100)`; `None` where a side is unknown.
    pub fn words(&self) -> Option<String> {
        let told =
            |value| Measurement { name: self.name, value: Some(value), unit: self.unit, threshold: None };
        let (before, after) = (told(self.before?), told(self.after?));
        let bar = match self.threshold {
            Some(Threshold::AtLeast(value)) => format!(" (reported from {})", told(value)),
            Some(Threshold::AtMost(value)) => format!(" (reported up to {})", told(value)),
            None => String::new(),
        };
        let per_second = if self.unit == Unit::PerSecond && !self.name.contains("per_second") {
            " per second"
        } else {
            ""
        };
        Some(format!("{}{per_second} {before} -> {after}{bar}", self.name.replace('_', " ")))
    }
}

/// A number as JSON has it: whole ones without a fraction.
struct Number(f64);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // 2^53: up to there a double holds each whole number.
        let is_whole = self.0.fract() == 0.0 && self.0.abs() <= 9_007_199_254_740_992.0;
        if is_whole { serializer.serialize_i64(self.0 as i64) } else { serializer.serialize_f64(self.0) }
    }
}

/// A share of 0.0123456789 says no more than one of 0.0123.
fn rounded(value: Option<f64>, unit: Unit) -> Option<Number> {
    let places = if unit == Unit::Share { 1e4 } else { 1e3 };
    value.map(|value| Number((value * places).round() / places))
}

/// `at_least` and `at_most`.
fn bounds(threshold: Option<Threshold>) -> (Option<Number>, Option<Number>) {
    match threshold {
        Some(Threshold::AtLeast(value)) => (Some(Number(value)), None),
        Some(Threshold::AtMost(value)) => (None, Some(Number(value))),
        None => (None, None),
    }
}

impl Serialize for Measurement {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_struct("Measurement", 5)?;
        let (least, most) = bounds(self.threshold);
        out.serialize_field("name", self.name)?;
        out.serialize_field("value", &rounded(self.value, self.unit))?;
        out.serialize_field("unit", self.unit.name())?;
        out.serialize_field("at_least", &least)?;
        out.serialize_field("at_most", &most)?;
        out.end()
    }
}

impl Serialize for MeasurementChange {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_struct("MeasurementChange", 6)?;
        let (least, most) = bounds(self.threshold);
        out.serialize_field("name", self.name)?;
        out.serialize_field("before", &rounded(self.before, self.unit))?;
        out.serialize_field("after", &rounded(self.after, self.unit))?;
        out.serialize_field("unit", self.unit.name())?;
        out.serialize_field("at_least", &least)?;
        out.serialize_field("at_most", &most)?;
        out.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_prints_as_people_read_it_and_keeps_its_value_in_json() {
        let bytes = Measurement::bytes("bytes_per_answer", 6_291_456).at_least(1_048_576.0);
        assert_eq!(bytes.to_string(), "6.3 MB");
        assert_eq!(bytes.threshold_words().as_deref(), Some("at least 1.0 MB"));
        assert_eq!(
            serde_json::to_string(&bytes).expect("serialise"),
            r#"{"name":"bytes_per_answer","value":6291456,"unit":"bytes","at_least":1048576,"at_most":null}"#
        );
        assert_eq!(Measurement::time("wait", Nanos::new(1_779_099_000)).spellings(), ["1.78 s", "1.779 s"]);
        assert_eq!(bytes.spellings(), ["6.3 MB", "6,291,456", "1.0 MB"]);
        assert_eq!(Measurement::share("busy", 0.8414).spellings(), ["84.1 %", "84 %", "84.14 %"]);
        assert_eq!(Measurement::seconds_per_second("cpus_used", 0.92).spellings(), ["0.92", "92.0 %"]);
        assert_eq!(Measurement::per_second("calls", 25.04).to_string(), "25");
    }

    #[test]
    fn a_change_stands_with_both_sides_and_what_is_on_one_side_only_is_unknown_on_the_other() {
        let before =
            [Measurement::per_second("fsyncs", 2_114.0).at_least(100.0), Measurement::count("files", 1)];
        let after = [Measurement::per_second("fsyncs", 130.0), Measurement::time("wait", Nanos::new(5))];
        let all = MeasurementChange::pair(&before, &after);
        let told: Vec<_> = all.iter().map(|one| (one.name, one.words())).collect();
        let words = "fsyncs per second 2,114 -> 130 (reported from 100)".to_string();
        assert_eq!(told, [("fsyncs", Some(words)), ("files", None), ("wait", None)]);
        assert_eq!(
            serde_json::to_string(&all[0]).expect("serialise"),
            r#"{"name":"fsyncs","before":2114,"after":130,"unit":"per_second","at_least":100,"at_most":null}"#
        );
        assert_eq!((all[2].before, all[2].after), (None, Some(5.0)));
    }

    #[test]
    fn an_unknown_figure_is_never_zero() {
        let unknown = Measurement::time("wait", Nanos::UNKNOWN);
        assert_eq!(unknown.to_string(), "unknown");
        let text = serde_json::to_string(&unknown).expect("serialise");
        assert!(text.contains(r#""value":null"#), "{text}");
        assert_eq!(Measurement::share("part", f64::NAN).value, None);
    }
}
