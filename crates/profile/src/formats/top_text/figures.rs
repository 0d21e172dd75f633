//! Figures as pprof prints them (internal/measurement): `1.03mins`, `5406.92kB`, `12`.

use whyslow_model::profile::Printed;

/// What the figures of a table count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Unit {
    Nanoseconds,
    Bytes,
    Count,
}

impl Unit {
    pub(super) fn name(self) -> &'static str {
        match self {
            Unit::Nanoseconds => "nanoseconds",
            Unit::Bytes => "bytes",
            Unit::Count => "count",
        }
    }
}

/// A suffix, its unit, and how many of it make one.
const SUFFIXES: &[(&str, Unit, f64)] = &[
    ("ns", Unit::Nanoseconds, 1.0),
    ("us", Unit::Nanoseconds, 1e3),
    ("µs", Unit::Nanoseconds, 1e3),
    ("ms", Unit::Nanoseconds, 1e6),
    ("s", Unit::Nanoseconds, 1e9),
    ("mins", Unit::Nanoseconds, 60e9),
    ("hrs", Unit::Nanoseconds, 3_600e9),
    ("days", Unit::Nanoseconds, 86_400e9),
    ("wks", Unit::Nanoseconds, 604_800e9),
    ("yrs", Unit::Nanoseconds, 31_536_000e9),
    // Powers of 1,024, though they are written so.
    ("B", Unit::Bytes, 1.0),
    ("kB", Unit::Bytes, 1_024.0),
    ("MB", Unit::Bytes, 1_048_576.0),
    ("GB", Unit::Bytes, 1_073_741_824.0),
    ("TB", Unit::Bytes, 1_099_511_627_776.0),
    ("PB", Unit::Bytes, 1_125_899_906_842_624.0),
];

/// Reads a figure. `unit` is that of the table: the first figure with a suffix sets it, and others must agree.
pub(super) fn printed(text: &str, unit: &mut Option<Unit>) -> Option<Printed> {
    let digits =
        text.find(|letter: char| !matches!(letter, '0'..='9' | '.' | '-' | '+')).unwrap_or(text.len());
    let (number, suffix) = text.split_at(digits);
    let value: f64 = number.parse().ok()?;
    let factor = match suffix.trim() {
        "" => 1.0,
        suffix => {
            let (_, own, factor) = SUFFIXES.iter().find(|(known, ..)| *known == suffix)?;
            if *unit.get_or_insert(*own) != *own {
                return None;
            }
            *factor
        }
    };
    // Two decimals are printed, and left out where both are 0. A plain number is exact: pprof scales what it rounds.
    let within = if suffix.is_empty() { 0 } else { (factor * 0.005).floor() as i64 };
    Some(Printed { text: text.to_string(), value: (value * factor).round() as i64, within })
}
