//! Requests of two captures by endpoint: percentiles with the interval in which chance leaves them.

use super::{change, noise};
use std::cmp::Reverse;
use whyslow_facts::Facts;
use whyslow_facts::folds::requests::{EndpointFacts, LOGGED, Side};
use whyslow_model::{CallStats, FigureChange, Nanos, SaturatingSum};

/// Endpoints listed: those whose requests took most of the time.
const MAX_ENDPOINTS: usize = 8;
/// Percentiles that are always shown, and those that are shown where there are requests enough.
const PERCENTILES: [(&str, f64, bool); 4] =
    [("median", 0.5, true), ("p90", 0.9, false), ("p99", 0.99, true), ("p99.9", 0.999, false)];
/// What an interval covers, in so many of a hundred cases.
const COVERAGE: f64 = 0.95;

/// The percentiles of the endpoints that both have, with the side on which they are known.
pub(super) fn compare(before: &Facts, after: &Facts) -> Vec<(Side, FigureChange)> {
    let mut rows: Vec<&EndpointFacts> =
        before.requests.endpoints().iter().filter(|row| !row.is_hidden() && row.stats.timed > 0).collect();
    rows.sort_by_key(|row| Reverse(row.stats.total_ns));
    let mut list = Vec::new();
    for old in rows.into_iter().take(MAX_ENDPOINTS) {
        let same = |new: &&EndpointFacts| {
            (new.side, new.protocol, &new.name, &new.peer) == (old.side, old.protocol, &old.name, &old.peer)
        };
        let Some(new) = after.requests.endpoints().iter().find(same).filter(|new| new.stats.timed > 0) else {
            continue;
        };
        // Of a log all that is known of a server behind is its address.
        let behind = old.peer.as_deref().filter(|_| old.protocol == Some(LOGGED));
        let who = behind.map_or(old.name.to_string(), |peer| format!("{} at {peer}", old.name));
        for (word, q, always) in PERCENTILES {
            let name = format!("{word} of {who}");
            list.extend(percentile(name, q, always, &old.stats, &new.stats).map(|figure| (old.side, figure)));
        }
    }
    list
}

/// Requests served that failed, as logs tell them.
pub(super) fn failed(facts: &Facts) -> u64 {
    let logged = facts.requests.endpoints().iter().filter(|row| row.protocol == Some(LOGGED));
    logged.filter(|row| row.side == Side::Server).map(|row| row.stats.errors).saturating_sum()
}

fn percentile(
    name: String,
    q: f64,
    always: bool,
    before: &CallStats,
    after: &CallStats,
) -> Option<FigureChange> {
    let (a, b) = (before.percentile(q).get()? as f64, after.percentile(q).get()? as f64);
    let figure = FigureChange {
        name,
        unit: "ns",
        before: Some(a),
        after: Some(b),
        ratio: (a > 0.0).then(|| b / a),
        beyond_noise: None,
        change: format!("too few requests to tell ({} and {})", before.timed, after.timed),
    };
    let (Some(old), Some(new)) = (interval(before, q), interval(after, q)) else {
        return always.then_some(figure);
    };
    let apart = old.1 < new.0 || new.1 < old.0;
    let differs = apart && noise::times_differ(a, b);
    let change = if differs {
        let shown = |(low, high): (Nanos, Nanos)| format!("{low} to {high}");
        let change = change::change_words(a, b);
        format!("{change} (95 %: {} before, {} after)", shown(old), shown(new))
    } else {
        change::NO_CHANGE.to_string()
    };
    Some(FigureChange { beyond_noise: Some(differs), change, ..figure })
}

/// Between which two durations the percentile `q` lies in 95 of 100 cases, whatever the durations' distribution;
/// `None` where there are too few of them.
fn interval(stats: &CallStats, q: f64) -> Option<(Nanos, Nanos)> {
    let n = stats.timed;
    let (low, high) = ranks(n, q)?;
    // The middle between two ranks: no rounding moves it to the next.
    let at = |rank: u64| stats.percentile((rank as f64 - 0.5) / n as f64);
    Some((at(low), at(high)))
}

/// The ranks (from 1) of the smallest and the largest of `n` values between which their percentile `q` lies with
/// [`COVERAGE`]: how many of the values lie below it follows the binomial distribution (H. A. David and
/// H. N. Nagaraja, Order Statistics, 7.1). `None` where even the largest value may be below it.
fn ranks(n: u64, q: f64) -> Option<(u64, u64)> {
    /// Above this the normal distribution is as good.
    const EXACT: u64 = 100_000;
    /// Standard deviations that leave out half of the rest on either side.
    const SIGMAS: f64 = 1.96;
    let tail = (1.0 - COVERAGE) / 2.0;
    if n > EXACT {
        let (mean, deviation) = (n as f64 * q, (n as f64 * q * (1.0 - q)).sqrt());
        let low = (mean - SIGMAS * deviation).floor().max(1.0) as u64;
        return Some((low, ((mean + SIGMAS * deviation).ceil() as u64 + 1).min(n)));
    }
    let (mut low, mut below) = (0, 0.0);
    let mut log = n as f64 * (1.0 - q).ln();
    for k in 0..n {
        below += log.exp();
        if below <= tail {
            low = k + 1;
        }
        if below >= 1.0 - tail {
            return (low > 0).then_some((low, k + 1));
        }
        log += ((n - k) as f64 / (k + 1) as f64).ln() + (q / (1.0 - q)).ln();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ranks_are_those_of_the_tables() {
        // Of the median, as tables of its interval print them.
        assert_eq!(ranks(10, 0.5), Some((2, 9)));
        assert_eq!(ranks(30, 0.5), Some((10, 21)));
        assert_eq!(ranks(100, 0.5), Some((40, 61)));
        assert_eq!(ranks(5, 0.5), None);
        assert_eq!(ranks(100, 0.99), None, "the largest of a hundred may be below it");
        assert!(ranks(400, 0.99).is_some_and(|(low, high)| low < 396 && high <= 400));
        let (low, high) = ranks(1_000_000, 0.5).unwrap();
        assert!((low as i64 - 499_020).abs() <= 1 && (high as i64 - 500_981).abs() <= 1);
    }

    fn stats(values: impl Iterator<Item = u64>) -> CallStats {
        let mut stats = CallStats::default();
        values.for_each(|ns| stats.record(Nanos::new(ns), false, 0));
        stats
    }

    #[test]
    fn a_change_is_told_from_chance_and_from_too_few() {
        let slow = stats((0..500).map(|i| 2_000_000_000 + i * 1_000_000));
        let fast = stats((0..500).map(|i| 700_000_000 + i * 1_000_000));
        let figure = percentile("p99 of /feed".to_string(), 0.99, true, &slow, &fast).unwrap();
        assert_eq!(figure.beyond_noise, Some(true));
        assert!(figure.change.contains("95 %"), "{}", figure.change);
        let same = percentile("p99 of /feed".to_string(), 0.99, true, &slow, &slow).unwrap();
        assert_eq!((same.beyond_noise, same.change.as_str()), (Some(false), change::NO_CHANGE));
        let few = stats([5, 6, 7].into_iter());
        let unknown = percentile("p99 of /feed".to_string(), 0.99, true, &slow, &few).unwrap();
        assert_eq!(unknown.beyond_noise, None);
        assert!(unknown.change.contains("too few"), "{}", unknown.change);
        assert!(percentile("p99.9".to_string(), 0.999, false, &slow, &few).is_none());
    }

    proptest! {
        #[test]
        fn ranks_stand_around_the_percentile(n in 1u64..20_000, q in 0.01f64..0.999) {
            if let Some((low, high)) = ranks(n, q) {
                prop_assert!(1 <= low && low < high && high <= n);
                prop_assert!((low as f64) <= n as f64 * q + 1.0 && (high as f64) >= n as f64 * q);
            }
        }
    }
}
