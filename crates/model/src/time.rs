//! Time: durations and points in time, always in nanoseconds.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// A duration in nanoseconds. `Nanos::UNKNOWN` stands for "not measured" and is never counted as zero.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Nanos(u64);

/// A point in time: nanoseconds on the capture's clock (see [`crate::ClockKind`]), since the epoch where
/// the date is known, else since the midnight before the capture began, or since its first line.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Timestamp(u64);

macro_rules! nanoseconds {
    ($name:ident) => {
        impl $name {
            /// Not measured.
            pub const UNKNOWN: $name = $name(u64::MAX);
            /// Nothing, as measured.
            pub const ZERO: $name = $name(0);

            /// From nanoseconds. The largest value is kept for "unknown".
            #[inline]
            pub const fn new(ns: u64) -> Self {
                $name(ns)
            }
            /// Nanoseconds, or `None` where it was not measured.
            #[inline]
            pub const fn get(self) -> Option<u64> {
                if self.0 == u64::MAX { None } else { Some(self.0) }
            }
            /// True where it was measured.
            #[inline]
            pub const fn is_known(self) -> bool {
                self.0 != u64::MAX
            }
            /// Nanoseconds, zero where unknown: for sums whose count of unknowns is kept elsewhere.
            #[inline]
            pub const fn or_zero(self) -> u64 {
                if self.0 == u64::MAX { 0 } else { self.0 }
            }
            /// Seconds, for display and ratios.
            pub fn as_secs_f64(self) -> Option<f64> {
                self.get().map(|ns| ns as f64 / 1e9)
            }
        }
        impl Default for $name {
            fn default() -> Self {
                Self::UNKNOWN
            }
        }
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                self.get().serialize(serializer)
            }
        }
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Ok(Option::<u64>::deserialize(deserializer)?.map_or(Self::UNKNOWN, Self::new))
            }
        }
    };
}
nanoseconds!(Nanos);
nanoseconds!(Timestamp);

impl Nanos {
    /// From whole milliseconds.
    pub const fn from_millis(ms: u64) -> Self {
        Nanos(ms * 1_000_000)
    }
    /// From whole seconds.
    pub const fn from_secs(s: u64) -> Self {
        Nanos(s * 1_000_000_000)
    }
}

impl Timestamp {
    /// The time from `earlier` to here; unknown where either is, or where the clock went back.
    #[inline]
    pub const fn since(self, earlier: Timestamp) -> Nanos {
        if self.0 == u64::MAX || earlier.0 == u64::MAX || self.0 < earlier.0 {
            return Nanos::UNKNOWN;
        }
        Nanos(self.0 - earlier.0)
    }
    /// The point `by` later; unknown where either is.
    #[inline]
    pub const fn plus(self, by: Nanos) -> Timestamp {
        if self.0 == u64::MAX || by.0 == u64::MAX {
            return Timestamp::UNKNOWN;
        }
        Timestamp(self.0.saturating_add(by.0))
    }
}

/// Human form with three significant digits: `1.78 s`, `12.5 ms`, `51 us`, `90 ns`, `2 min 43 s`, `unknown`.
impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(ns) = self.get() else {
            return f.write_str("unknown");
        };
        let text = match ns {
            0 => "0 s".to_string(),
            1..1_000 => format!("{ns} ns"),
            1_000..1_000_000 => format!("{} us", three_digits(ns as f64 / 1e3)),
            1_000_000..1_000_000_000 => format!("{} ms", three_digits(ns as f64 / 1e6)),
            1_000_000_000..120_000_000_000 => format!("{} s", three_digits(ns as f64 / 1e9)),
            _ => {
                let seconds = ns / 1_000_000_000;
                match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
                    (0, m, s) => format!("{m} min {s} s"),
                    (h, m, _) => format!("{h} h {m} min"),
                }
            }
        };
        f.pad(&text)
    }
}

/// The date of a day counted from 1970-01-01 (Howard Hinnant, "chrono-compatible low-level date algorithms",
/// `civil_from_days`).
pub fn civil_date(days: u64) -> (u64, u64, u64) {
    let z = days + 719_468;
    let era = z / 146_097;
    let day_of_era = z % 146_097;
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (year_of_era + era * 400 + (month <= 2) as u64, month, day)
}

/// Days from 1970-01-01 to a date; negative before it. The reverse of [`civil_date`], from the same source
/// (`days_from_civil`). `month` and `day` count from 1.
pub fn days_of_civil(year: i64, month: u32, day: u32) -> i64 {
    let year = year - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year =
        (153 * (i64::from(month) + if month > 2 { -3 } else { 9 }) + 2) / 5 + i64::from(day) - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

impl Timestamp {
    /// For names of files, UTC: `2026-11-21-214530`; empty where unknown.
    pub fn date_and_time(self) -> String {
        let Some(seconds) = self.get().map(|ns| ns / 1_000_000_000) else {
            return String::new();
        };
        let (year, month, day) = civil_date(seconds / 86_400);
        let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
        format!("{year:04}-{month:02}-{day:02}-{hour:02}{minute:02}{second:02}")
    }
}

/// Three significant digits, without an exponent: `1.78`, `12.5`, `338`.
fn three_digits(value: f64) -> String {
    if value < 9.995 {
        format!("{value:.2}")
    } else if value < 99.95 {
        format!("{value:.1}")
    } else {
        format!("{value:.0}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        assert_eq!(civil_date(0), (1970, 1, 1));
        assert_eq!(civil_date(19_782), (2024, 2, 29));
        assert_eq!(civil_date(20_778), (2026, 11, 21));
        for day in (0..60_000).step_by(13) {
            let (year, month, of_month) = civil_date(day);
            assert_eq!(days_of_civil(year as i64, month as u32, of_month as u32), day as i64);
        }
        assert_eq!(days_of_civil(1969, 12, 31), -1);
        assert_eq!(Timestamp::new(1_795_296_895_000_000_000).date_and_time(), "2026-11-21-213455");
    }

    #[test]
    fn durations_read_well() {
        for (ns, text) in [
            (0, "0 s"),
            (90, "90 ns"),
            (51_000, "51.0 us"),
            (1_779_099_000, "1.78 s"),
            (163_172_000_000, "2 min 43 s"),
            (999_999, "1000 us"),
            (7_260_000_000_000, "2 h 1 min"),
        ] {
            assert_eq!(Nanos::new(ns).to_string(), text);
        }
        assert_eq!(Nanos::UNKNOWN.to_string(), "unknown");
    }

    #[test]
    fn unknown_never_becomes_a_figure() {
        assert_eq!(Timestamp::UNKNOWN.since(Timestamp::new(5)), Nanos::UNKNOWN);
        assert_eq!(Timestamp::new(4).since(Timestamp::new(5)), Nanos::UNKNOWN);
        assert_eq!(Timestamp::new(4).plus(Nanos::UNKNOWN), Timestamp::UNKNOWN);
    }
}
