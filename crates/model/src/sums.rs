//! Sums of figures that a capture tells. A damaged one may claim any: then the sum stays at the most that there is.

/// Adds up without an overflow.
pub trait SaturatingSum: Iterator<Item = u64> + Sized {
    /// The sum, or the largest number where it is larger.
    fn saturating_sum(self) -> u64 {
        self.fold(0, u64::saturating_add)
    }
}

impl<I: Iterator<Item = u64>> SaturatingSum for I {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_without_end_is_the_largest_number() {
        assert_eq!([1, 2, 3].into_iter().saturating_sum(), 6);
        assert_eq!([u64::MAX, 2, u64::MAX].into_iter().saturating_sum(), u64::MAX);
    }
}
