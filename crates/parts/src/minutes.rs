//! The minutes of an hour that a part has rows of.

use std::fmt;
use std::str::FromStr;

/// A set of minutes of one hour, printed as ranges `[first, end)`: `00-15+16-60`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct PartMinutes(u64);

impl PartMinutes {
    /// Minutes of an hour.
    const HOUR: u32 = 60;

    /// The minutes from `first` up to, not with, `end`. `None` where that is none, or more than an hour has.
    pub fn range(first: u32, end: u32) -> Option<PartMinutes> {
        let below = |bit: u32| (1u64 << bit) - 1;
        (first < end && end <= Self::HOUR).then(|| PartMinutes(below(end) & !below(first)))
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// How many.
    pub fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// The first one.
    pub fn first(self) -> Option<u32> {
        (!self.is_empty()).then(|| self.0.trailing_zeros())
    }

    /// The minute after the last one.
    pub fn end(self) -> Option<u32> {
        (!self.is_empty()).then(|| u64::BITS - self.0.leading_zeros())
    }

    /// Whether all of `other` are in it.
    pub fn has_all(self, other: PartMinutes) -> bool {
        other.0 & !self.0 == 0
    }

    /// Whether some of `other` are in it.
    pub fn has_any(self, other: PartMinutes) -> bool {
        other.0 & self.0 != 0
    }

    /// Those of both.
    #[must_use]
    pub fn with(self, other: PartMinutes) -> PartMinutes {
        PartMinutes(self.0 | other.0)
    }

    /// The ranges, in order.
    fn ranges(self) -> impl Iterator<Item = (u32, u32)> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let first = (rest != 0).then(|| rest.trailing_zeros())?;
            let length = (rest >> first).trailing_ones();
            let end = first + length;
            rest &= !((1u64 << end) - 1);
            Some((first, end))
        })
    }
}

impl fmt::Display for PartMinutes {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (first, end)) in self.ranges().enumerate() {
            let plus = if at > 0 { "+" } else { "" };
            write!(out, "{plus}{first:02}-{end:02}")?;
        }
        Ok(())
    }
}

impl FromStr for PartMinutes {
    type Err = &'static str;

    /// Only what `Display` prints: one set has one name.
    fn from_str(text: &str) -> Result<PartMinutes, &'static str> {
        let number = |text: &str| (text.len() == 2).then(|| text.parse::<u8>().ok()).flatten();
        let mut all = PartMinutes::default();
        for range in text.split('+') {
            let ends = range.split_once('-').and_then(|(first, end)| Some((number(first)?, number(end)?)));
            let range = ends.and_then(|(first, end)| PartMinutes::range(first.into(), end.into()));
            all = all.with(range.ok_or("its minutes are no ranges of two digits each, as 00-15")?);
        }
        if all.to_string() == text { Ok(all) } else { Err("its minutes are not in order") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ranges_are_printed_and_read() {
        for text in ["00-01", "59-60", "00-60", "00-15+16-60", "03-04+07-09"] {
            assert_eq!(text.parse::<PartMinutes>().unwrap().to_string(), text);
        }
        for text in
            ["", "00-00", "05-04", "00-61", "0-1", "00-15+15-60", "16-60+00-15", "00-1+", "+0-01", "00-+1"]
        {
            assert!(text.parse::<PartMinutes>().is_err(), "{text}");
        }
        let some: PartMinutes = "03-04+07-09".parse().unwrap();
        assert_eq!((some.first(), some.end(), some.len()), (Some(3), Some(9), 3));
    }

    proptest! {
        #[test]
        fn each_set_has_one_name(bits in 1u64..(1 << 60)) {
            let set = PartMinutes(bits);
            prop_assert_eq!(set.to_string().parse::<PartMinutes>(), Ok(set));
        }

        #[test]
        fn no_text_panics(text in "[0-9+-]{0,12}") {
            if let Ok(set) = text.parse::<PartMinutes>() {
                prop_assert_eq!(set.to_string(), text);
            }
        }
    }
}
