//! What two runs may differ by though nothing was changed.

/// Standard deviations from which on a difference of counts is no chance: with independent events (Poisson: the
/// deviation of a count is its root) one of 370 comparisons of equal runs passes it.
pub const SIGMAS: f64 = 3.0;
/// Events come in bursts, so that counts scatter more than Poisson's law says: a smaller part is no change either.
pub const COUNT_PART: f64 = 0.05;
/// Times of the same program under a tracer differ by this part from run to run, with other load, cache contents
/// and clock rates.
pub const TIME_PART: f64 = 0.10;
/// Shares (0 to 1) of equal runs lie this close together.
pub const SHARE_POINTS: f64 = 0.05;

/// Whether two counts differ by more than equal runs may; `exposure` is how much longer the second was watched.
pub fn counts_differ(before: u64, after: u64, exposure: f64) -> bool {
    let expected = before as f64 * exposure;
    let difference = (after as f64 - expected).abs();
    let deviation = (after as f64 + before as f64 * exposure * exposure).sqrt();
    difference > SIGMAS * deviation && difference > COUNT_PART * expected.max(after as f64)
}

/// Whether two times (or times per unit of work) differ by more than equal runs may.
pub fn times_differ(before: f64, after: f64) -> bool {
    (after - before).abs() > TIME_PART * before.max(after)
}

/// Whether two shares differ by more than equal runs may.
pub fn shares_differ(before: f64, after: f64) -> bool {
    (after - before).abs() > SHARE_POINTS
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn bounds() {
        assert!(counts_differ(523, 2_599, 1.0));
        assert!(!counts_differ(100, 125, 1.0));
        assert!(counts_differ(200_135, 0, 1.0));
        assert!(!counts_differ(0, 5, 1.0));
        assert!(!counts_differ(1_000, 2_000, 2.0), "twice as many in twice the time");
        assert!(!counts_differ(1_000_000, 1_020_000, 1.0), "beyond Poisson, but 2 %");
        assert!(times_differ(163.172, 8.810) && !times_differ(1.0, 1.08));
    }

    proptest! {
        #[test]
        fn equal_runs_never_differ(n in any::<u32>(), ns in 0f64..1e18) {
            prop_assert!(!counts_differ(n as u64, n as u64, 1.0));
            prop_assert!(!times_differ(ns, ns));
        }
    }
}
