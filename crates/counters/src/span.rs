//! The time between two looks, and what counters grew by: the one place where differences are taken. A counter that went back (a reset, a
//! wrap, a thing that was replaced) has no rate.

/// The time that a look is over.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    /// Seconds since the look before; of the first look, since boot.
    seconds: f64,
    /// True where what is counted began with it, at nothing: the first look, a new task.
    first: bool,
}

impl Span {
    /// Since boot, so many seconds ago.
    pub fn since_boot(seconds: f64) -> Span {
        Span { seconds, first: true }
    }

    /// Of a thing that began within the last `seconds`.
    pub fn of_new(seconds: f64) -> Span {
        Span { seconds, first: true }
    }

    /// Since the look before.
    pub fn since_last(seconds: f64) -> Span {
        Span { seconds, first: false }
    }

    /// Since it began, nobody knows when: means and shares are known, rates are not.
    pub fn of_unknown() -> Span {
        Span { seconds: f64::NAN, first: true }
    }

    /// True for the first look.
    pub fn is_first(&self) -> bool {
        self.first
    }

    /// Its length in seconds; `None` where it is too short for rates (a hundredth of a second, the kernel's tick).
    pub fn seconds(&self) -> Option<f64> {
        (self.seconds >= 0.01).then_some(self.seconds)
    }

    /// How much a counter grew. `None` where it went back, or was not there before.
    pub fn grown(&self, now: Option<u64>, before: Option<u64>) -> Option<u64> {
        now?.checked_sub(if self.first { 0 } else { before? })
    }

    /// The same of a counter that the kernel shows as 32 bits: it begins anew at 2^32. More than half of that is taken
    /// for one that went back.
    pub fn grown_32(&self, now: Option<u64>, before: Option<u64>) -> Option<u64> {
        if self.first {
            return now;
        }
        let (now, before) = (now?, before?);
        if now >= before {
            return Some(now - before);
        }
        let (now, before) = (u32::try_from(now).ok()?, u32::try_from(before).ok()?);
        let grown = now.wrapping_sub(before);
        (grown < u32::MAX / 2).then_some(u64::from(grown))
    }

    /// What it is a second.
    pub fn per_second(&self, grown: Option<u64>) -> Option<f64> {
        Some(grown? as f64 / self.seconds()?)
    }

    /// How much a counter grew a second.
    pub fn rate(&self, now: Option<u64>, before: Option<u64>) -> Option<f64> {
        self.per_second(self.grown(now, before))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_that_went_back_has_no_rate() {
        let span = Span::since_last(2.0);
        assert_eq!(span.rate(Some(30), Some(10)), Some(10.0));
        assert_eq!(span.rate(Some(5), Some(10)), None);
        assert_eq!(span.rate(Some(5), None), None);
        assert_eq!(Span::since_last(0.0).rate(Some(30), Some(10)), None);
        assert_eq!(Span::since_boot(10.0).rate(Some(30), None), Some(3.0));
    }

    #[test]
    fn a_counter_of_32_bits_begins_anew() {
        let span = Span::since_last(1.0);
        assert_eq!(span.grown_32(Some(4), Some(u64::from(u32::MAX) - 5)), Some(10));
        assert_eq!(span.grown_32(Some(4), Some(1000)), None);
        assert_eq!(span.grown_32(Some(4), Some(u64::MAX)), None);
    }
}
