//! What two equal runs may differ by, for samples are taken by chance: the standard deviation of a count of samples is its root
//! (Poisson), of a part of them that of a part (binomial).

use super::{Basis, SeriesStep};

/// Standard deviations from which on a difference is no chance: one of 22 comparisons of equal runs passes it. The smallest
/// changes that are told at all keep most of these quiet.
const SIGMAS: f64 = 2.0;

/// Whether two values differ by more than chance; `None` where it is unknown how many samples they rest on.
pub(super) fn values_differ(
    basis: Basis,
    before: (&SeriesStep, f64),
    after: (&SeriesStep, f64),
) -> Option<bool> {
    let relative = |(step, value): (&SeriesStep, f64)| basis.of(step, value);
    let difference = (relative(after)? - relative(before)?).abs();
    // What one sample is worth; a profile without any had the other's.
    let worth =
        |(step, _): (&SeriesStep, f64)| Some(basis.of(step, step.account.total)? / known(step)?.max(1.0));
    let (one, other) = (worth(before)?, worth(after)?);
    let most = one.max(other);
    let variance = |side: (&SeriesStep, f64), worth: f64| {
        let worth = if worth > 0.0 { worth } else { most };
        let count = side.1 / side.0.account.total.max(f64::MIN_POSITIVE) * side.0.samples.unwrap_or(0) as f64;
        worth * worth * count.max(1.0)
    };
    let deviation = (variance(before, one) + variance(after, other)).sqrt();
    Some(difference > SIGMAS * deviation)
}

/// The same of two parts of the whole (0 to 1).
pub(super) fn shares_differ(before: (&SeriesStep, f64), after: (&SeriesStep, f64)) -> Option<bool> {
    let (one, other) = (known(before.0)?.max(1.0), known(after.0)?.max(1.0));
    // Of nothing in few samples is not known to be nothing: one of either is taken to have been missed.
    let both = (before.1 * one + after.1 * other).clamp(1.0, one + other - 1.0) / (one + other);
    let deviation = (both * (1.0 - both) * (1.0 / one + 1.0 / other)).sqrt();
    Some((after.1 - before.1).abs() > SIGMAS * deviation)
}

fn known(step: &SeriesStep) -> Option<f64> {
    step.samples.map(|samples| samples as f64)
}
