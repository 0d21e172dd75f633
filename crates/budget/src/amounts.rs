//! Amounts with their units, as budgets write them (`10`, `2 MB`, `50 ms`) and as reports print them.

use serde::{Deserialize, Serialize};
use whyslow_model::{Nanos, figures};

/// What an amount is of.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// Things: calls, queries.
    Count,
    /// Bytes.
    Bytes,
    /// Nanoseconds.
    Time,
}

/// Units of time, in ns.
const TIMES: [(&str, f64); 6] =
    [("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("ms", 1e6), ("s", 1e9), ("min", 60e9)];
/// Units of bytes: powers of 1000 as the reports print them, and those of 1024 by their own names (IEC 80000-13).
const BYTES: [(&str, f64); 8] = [
    ("B", 1.0),
    ("kB", 1e3),
    ("KB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
];
/// Multiples of counts.
const COUNTS: [(&str, f64); 3] = [("", 1.0), ("k", 1e3), ("M", 1e6)];

impl Quantity {
    fn units(self) -> &'static [(&'static str, f64)] {
        match self {
            Quantity::Count => &COUNTS,
            Quantity::Bytes => &BYTES,
            Quantity::Time => &TIMES,
        }
    }

    /// An amount of it, of text: `2 MB`.
    ///
    /// # Errors
    /// What was expected.
    pub fn parse(self, text: &str) -> Result<f64, String> {
        let text = text.trim();
        let digits =
            text.find(|letter: char| !(letter.is_ascii_digit() || matches!(letter, '.' | '_' | ',')));
        let (number, unit) = text.split_at(digits.unwrap_or(text.len()));
        let number: String = number.chars().filter(|letter| !matches!(letter, '_' | ',')).collect();
        let unit = unit.trim();
        let value: f64 =
            number.parse().map_err(|_| format!("an amount, as {}; not `{text}`", self.example()))?;
        let factor = self.units().iter().find(|(name, _)| *name == unit);
        match factor {
            Some((_, factor)) if (value * factor).is_finite() => Ok(value * factor),
            Some(_) => Err(format!("an amount that is not beyond all numbers; not `{text}`")),
            None => Err(self.unit_error(unit)),
        }
    }

    fn unit_error(self, unit: &str) -> String {
        let of_other = [Quantity::Count, Quantity::Bytes, Quantity::Time]
            .into_iter()
            .find(|other| !unit.is_empty() && other.units().iter().any(|(name, _)| *name == unit));
        let units: Vec<&str> =
            self.units().iter().map(|(name, _)| *name).filter(|name| !name.is_empty()).collect();
        match (self, of_other) {
            (Quantity::Count, Some(_)) => format!("a number without a unit: it is a count; not `{unit}`"),
            (_, _) if unit.is_empty() => {
                format!("a unit ({}): an amount as {}", units.join(", "), self.example())
            }
            _ => format!("one of the units {}; not `{unit}`", units.join(", ")),
        }
    }

    fn example(self) -> &'static str {
        match self {
            Quantity::Count => "`10`",
            Quantity::Bytes => "`2 MB`",
            Quantity::Time => "`50 ms`",
        }
    }

    /// The amount for people.
    pub fn words(self, value: f64) -> String {
        match self {
            Quantity::Count => figures::quantity(value),
            Quantity::Bytes => figures::bytes(value.max(0.0) as u64),
            Quantity::Time => figures::duration(Nanos::new(value.max(0.0) as u64)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Quantity::{Bytes, Count, Time};

    #[test]
    fn amounts_have_units() {
        assert_eq!(Count.parse("1_000"), Ok(1_000.0));
        assert_eq!(Count.parse("2 k"), Ok(2_000.0));
        assert_eq!(Bytes.parse("2 MB"), Ok(2e6));
        assert_eq!(Bytes.parse("1MiB"), Ok(1_048_576.0));
        assert_eq!(Time.parse("1.5 ms"), Ok(1.5e6));
    }

    #[test]
    fn a_wrong_unit_says_which_are_right() {
        assert!(Count.parse("3 ms").unwrap_err().contains("without a unit"));
        assert!(Time.parse("3 msec").unwrap_err().contains("ns, us"));
        assert!(Time.parse("3").unwrap_err().contains("a unit"));
        assert!(Bytes.parse("much").unwrap_err().contains("`2 MB`"));
        assert!(Count.parse(&"9".repeat(400)).is_err());
    }
}
