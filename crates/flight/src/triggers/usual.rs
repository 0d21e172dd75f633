//! How long requests of an endpoint usually take: the 99th percentile of the last minutes.

use std::collections::HashMap;
use std::time::Duration;
use whyslow_model::Timestamp;

/// The times of half of the window are kept together; the older half goes as the next begins.
const HALF: Duration = Duration::from_mins(3);
/// Requests before anything is usual: of fewer, the 99th percentile is the slowest one.
const ENOUGH: u64 = 200;
/// Endpoints that are told apart.
const MOST: usize = 1_024;
/// Buckets a power of two: a bucket is 19 % wide.
const STEPS: f64 = 4.0;
const BUCKETS: usize = 160;

type Counts = HashMap<Box<str>, Box<[u32; BUCKETS]>>;

/// Times by endpoint.
#[derive(Default)]
pub(crate) struct Usual {
    now: Counts,
    before: Counts,
    since: Option<Timestamp>,
}

fn bucket(took: Duration) -> usize {
    let ns = (took.as_nanos() as f64).max(1.0);
    ((ns.log2() * STEPS) as usize).min(BUCKETS - 1)
}

impl Usual {
    /// Adds a request that ended at `at`.
    pub(crate) fn add(&mut self, endpoint: &str, took: Duration, at: Timestamp) {
        let since = *self.since.get_or_insert(at);
        if at.since(since).get().is_some_and(|ns| u128::from(ns) >= HALF.as_nanos()) {
            self.before = std::mem::take(&mut self.now);
            self.since = Some(at);
        }
        if let Some(counts) = self.now.get_mut(endpoint) {
            let count = &mut counts[bucket(took)];
            *count = count.saturating_add(1);
        } else if self.now.len() < MOST {
            let mut counts = Box::new([0; BUCKETS]);
            counts[bucket(took)] = 1;
            self.now.insert(endpoint.into(), counts);
        }
    }

    /// The 99th percentile, the upper end of its bucket; `None` where too few were seen.
    pub(crate) fn of(&self, endpoint: &str) -> Option<Duration> {
        let halves = [self.now.get(endpoint), self.before.get(endpoint)];
        let count =
            |bucket: usize| -> u64 { halves.iter().flatten().map(|counts| u64::from(counts[bucket])).sum() };
        let all: u64 = (0..BUCKETS).map(count).sum();
        if all < ENOUGH {
            return None;
        }
        let mut above = all / 100;
        let slowest = (0..BUCKETS).rev().find(|bucket| {
            let here = count(*bucket);
            let is_it = here > above;
            above = above.saturating_sub(here);
            is_it
        })?;
        Some(Duration::from_nanos(((slowest + 1) as f64 / STEPS).exp2() as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_percentile_is_that_of_the_last_minutes() {
        let mut usual = Usual::default();
        let ms = Duration::from_millis;
        for number in 0..ENOUGH {
            assert_eq!(usual.of("a"), None);
            usual.add("a", ms(if number % 50 == 0 { 80 } else { 2 }), Timestamp::new(1 + number));
        }
        let p99 = usual.of("a").expect("enough");
        assert!((80.0..80.0 * 1.2).contains(&(p99.as_secs_f64() * 1e3)), "{p99:?}");
        assert_eq!(usual.of("b"), None);
        // Two halves later nothing of it is left.
        for half in 1..=2 {
            let at = Timestamp::new(10 + half * HALF.as_nanos() as u64);
            (0..ENOUGH).for_each(|_| usual.add("a", ms(2), at));
        }
        let p99 = usual.of("a").expect("enough");
        assert!(p99 < ms(3), "{p99:?}");
    }
}
