//! Statistics of a set of calls: count, errors, total, min, max and a histogram for percentiles.

use crate::time::Nanos;

/// A histogram of durations: logarithmic, eight buckets an octave (a percentile is within 6.3 % of the true
/// value), holding only the range that occurred. Strace prints microseconds, so the first octaves stay empty.
/// The first few durations need no allocation: most subjects (a file that is opened once) have no more.
#[derive(Clone, Debug, Default)]
pub struct Histogram {
    /// The buckets of the first durations, before `counts` is used.
    first: [u16; Histogram::FIRST],
    firsts: u8,
    /// The bucket number of `counts[0]`.
    base: u16,
    counts: Vec<u32>,
}

impl Histogram {
    const SUB_BITS: u32 = 3;
    const FIRST: usize = 5;
    /// Buckets added at once: an octave.
    const STEP: usize = 8;

    #[inline]
    fn bucket(ns: u64) -> u16 {
        if ns < 1 << Self::SUB_BITS {
            return ns as u16;
        }
        let top = 63 - ns.leading_zeros();
        let sub = (ns >> (top - Self::SUB_BITS)) & ((1 << Self::SUB_BITS) - 1);
        (((top - Self::SUB_BITS + 1) << Self::SUB_BITS) as u64 + sub) as u16
    }

    /// The middle of a bucket, in ns.
    fn middle(bucket: u16) -> u64 {
        let octave = (bucket >> Self::SUB_BITS) as u32;
        let sub = (bucket & ((1 << Self::SUB_BITS) - 1)) as u64;
        if octave == 0 {
            return sub;
        }
        let width = 1u64 << (octave - 1);
        (((1 << Self::SUB_BITS) + sub) << (octave - 1)) + width / 2
    }

    /// Counts one duration.
    #[inline]
    pub fn record(&mut self, ns: u64) {
        let bucket = Self::bucket(ns);
        let at = bucket.wrapping_sub(self.base) as usize;
        match self.counts.get_mut(at) {
            Some(count) => *count = count.saturating_add(1),
            None => self.record_outside(bucket, 1),
        }
    }

    #[cold]
    fn record_outside(&mut self, bucket: u16, times: u32) {
        if self.counts.is_empty() {
            if times == 1 && (self.firsts as usize) < Self::FIRST {
                self.first[self.firsts as usize] = bucket;
                self.firsts += 1;
                return;
            }
            let first = std::mem::take(&mut self.first);
            let firsts = std::mem::take(&mut self.firsts) as usize;
            let lowest = first[..firsts].iter().copied().chain([bucket]).min().unwrap_or(bucket);
            self.base = lowest.saturating_sub(Self::STEP as u16 / 2);
            self.counts = vec![0; 3 * Self::STEP];
            for &early in &first[..firsts] {
                self.add(early, 1);
            }
        }
        self.add(bucket, times);
    }

    fn add(&mut self, bucket: u16, times: u32) {
        if bucket < self.base {
            let missing =
                ((self.base - bucket) as usize).next_multiple_of(Self::STEP).min(self.base as usize);
            self.counts.splice(0..0, std::iter::repeat_n(0, missing));
            self.base -= missing as u16;
        }
        let at = (bucket - self.base) as usize;
        if at >= self.counts.len() {
            self.counts.resize((at + 1).next_multiple_of(Self::STEP), 0);
        }
        self.counts[at] = self.counts[at].saturating_add(times);
    }

    /// Adds another histogram's counts.
    pub fn merge(&mut self, other: &Histogram) {
        for (bucket, count) in other.buckets() {
            let at = bucket.wrapping_sub(self.base) as usize;
            match self.counts.get_mut(at) {
                Some(known) => *known = known.saturating_add(count),
                None => self.record_outside(bucket, count),
            }
        }
    }

    /// Each bucket with its count, zeros left out; not sorted.
    fn buckets(&self) -> impl Iterator<Item = (u16, u32)> {
        let first = self.first[..self.firsts as usize].iter().map(|&bucket| (bucket, 1));
        let rest = self.counts.iter().enumerate().map(|(at, &count)| (self.base + at as u16, count));
        first.chain(rest.filter(|(_, count)| *count > 0))
    }

    /// What was counted: the middle of each bucket with its count, the shortest first. Recording the middles again
    /// ([`Histogram::record_many`]) makes an equal histogram.
    pub fn durations(&self) -> Vec<(Nanos, u32)> {
        let mut buckets: Vec<(u16, u32)> = self.buckets().collect();
        buckets.sort_unstable_by_key(|(bucket, _)| *bucket);
        buckets.into_iter().map(|(bucket, count)| (Nanos::new(Self::middle(bucket)), count)).collect()
    }

    /// Counts one duration several times.
    pub fn record_many(&mut self, ns: u64, times: u32) {
        if times == 1 {
            return self.record(ns);
        }
        if times > 0 {
            let bucket = Self::bucket(ns);
            match self.counts.get_mut(bucket.wrapping_sub(self.base) as usize) {
                Some(count) => *count = count.saturating_add(times),
                None => self.record_outside(bucket, times),
            }
        }
    }

    /// Durations counted.
    pub fn count(&self) -> u64 {
        self.buckets().map(|(_, count)| count as u64).sum()
    }

    /// The duration below which the share `q` (0 to 1) of the calls lie; unknown when empty.
    pub fn percentile(&self, q: f64) -> Nanos {
        let total = self.count();
        if total == 0 {
            return Nanos::UNKNOWN;
        }
        let rank = ((total as f64 * q).ceil() as u64).clamp(1, total);
        let mut first = self.first;
        let first = &mut first[..self.firsts as usize];
        first.sort_unstable();
        let counted = self.counts.iter().enumerate().map(|(at, &count)| (self.base + at as u16, count));
        let mut seen = 0;
        for (bucket, count) in first.iter().map(|&bucket| (bucket, 1)).chain(counted) {
            seen += count as u64;
            if seen >= rank {
                return Nanos::new(Self::middle(bucket));
            }
        }
        Nanos::UNKNOWN
    }
}

/// What is known of a set of calls. Durations are only of the calls whose duration was captured (`timed`).
#[derive(Clone, Debug)]
pub struct CallStats {
    /// Calls seen, finished or not.
    pub count: u64,
    /// Calls that returned an error (restarts after a signal are none).
    pub errors: u64,
    /// Calls whose duration is known.
    pub timed: u64,
    /// Sum of the known durations, ns.
    pub total_ns: u64,
    /// The part of it that was waiting for somebody else, ns, where waits are told apart from work.
    pub waiting_ns: u64,
    min_ns: u64,
    max_ns: u64,
    /// Bytes moved, for calls whose result counts bytes.
    pub bytes: u64,
    /// The durations.
    pub histogram: Histogram,
}

impl Default for CallStats {
    fn default() -> Self {
        CallStats::NONE
    }
}

impl CallStats {
    /// No calls.
    pub const NONE: CallStats = CallStats {
        count: 0,
        errors: 0,
        timed: 0,
        total_ns: 0,
        waiting_ns: 0,
        min_ns: u64::MAX,
        max_ns: 0,
        bytes: 0,
        histogram: Histogram { first: [0; Histogram::FIRST], firsts: 0, base: 0, counts: Vec::new() },
    };
}

/// Statistics of calls that most subjects never see: they take no room until there is one. Read and recorded
/// like [`CallStats`].
#[derive(Clone, Debug, Default)]
pub struct RareStats(Option<Box<CallStats>>);

impl RareStats {
    /// Adds another set's calls.
    pub fn merge(&mut self, other: &CallStats) {
        if other.count > 0 {
            self.0.get_or_insert_default().merge(other);
        }
    }
}

impl std::ops::Deref for RareStats {
    type Target = CallStats;

    fn deref(&self) -> &CallStats {
        static NONE: CallStats = CallStats::NONE;
        self.0.as_deref().unwrap_or(&NONE)
    }
}

impl std::ops::DerefMut for RareStats {
    fn deref_mut(&mut self) -> &mut CallStats {
        self.0.get_or_insert_default()
    }
}

impl CallStats {
    /// The totals of a table that shows no single calls: percentiles, min and max stay unknown.
    pub fn of_totals(count: u64, errors: u64, total: Nanos) -> CallStats {
        let timed = if total.is_known() { count } else { 0 };
        CallStats { count, errors, timed, total_ns: total.or_zero(), ..CallStats::default() }
    }

    /// States the shortest and the longest, as a stored set of calls tells them.
    pub fn set_bounds(&mut self, min: Nanos, max: Nanos) {
        (self.min_ns, self.max_ns) = (min.get().unwrap_or(u64::MAX), max.or_zero());
    }

    /// Counts one call.
    #[inline]
    pub fn record(&mut self, dur: Nanos, failed: bool, bytes: u64) {
        self.count += 1;
        self.errors += failed as u64;
        self.bytes = self.bytes.saturating_add(bytes);
        if let Some(ns) = dur.get() {
            self.timed += 1;
            self.total_ns = self.total_ns.saturating_add(ns);
            self.min_ns = self.min_ns.min(ns);
            self.max_ns = self.max_ns.max(ns);
            self.histogram.record(ns);
        }
    }

    /// Adds another set's calls. A damaged recording may claim any figures: sums stay at the most that there is.
    pub fn merge(&mut self, other: &CallStats) {
        if other.count == 0 {
            return;
        }
        self.count = self.count.saturating_add(other.count);
        self.errors = self.errors.saturating_add(other.errors);
        self.timed = self.timed.saturating_add(other.timed);
        self.total_ns = self.total_ns.saturating_add(other.total_ns);
        self.waiting_ns = self.waiting_ns.saturating_add(other.waiting_ns);
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.histogram.merge(&other.histogram);
    }

    /// Sum of the durations; unknown when no call was timed, or so few that their sum says nothing of the others.
    pub fn total(&self) -> Nanos {
        /// In a trace without durations a call in thousands has one, by the line on which it was resumed.
        const ONE_IN: u64 = 10;
        if self.timed == 0 || self.timed < self.count / ONE_IN {
            Nanos::UNKNOWN
        } else {
            Nanos::new(self.total_ns)
        }
    }
    /// Sum of the durations that are known: of the others it says nothing; unknown when no call was timed.
    pub fn known_total(&self) -> Nanos {
        if self.timed == 0 { Nanos::UNKNOWN } else { Nanos::new(self.total_ns) }
    }
    /// The shortest; unknown when no single call was timed.
    pub fn min(&self) -> Nanos {
        if self.min_ns == u64::MAX { Nanos::UNKNOWN } else { Nanos::new(self.min_ns) }
    }
    /// The longest; unknown when no single call was timed.
    pub fn max(&self) -> Nanos {
        if self.min_ns == u64::MAX { Nanos::UNKNOWN } else { Nanos::new(self.max_ns) }
    }
    /// The mean; unknown when no call was timed.
    pub fn mean(&self) -> Nanos {
        match self.timed {
            0 => Nanos::UNKNOWN,
            timed => Nanos::new(self.total_ns / timed),
        }
    }
    /// The percentile `q` (0 to 1), held within min and max; unknown when no call was timed.
    pub fn percentile(&self, q: f64) -> Nanos {
        match self.histogram.percentile(q).get() {
            Some(ns) => Nanos::new(ns.clamp(self.min_ns, self.max_ns)),
            None => Nanos::UNKNOWN,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn percentiles_lie_within_one_bucket(mut values in prop::collection::vec(1u64..10_000_000_000, 1..300), q in 0.01f64..1.0) {
            let mut stats = CallStats::default();
            for &value in &values {
                stats.record(Nanos::new(value), false, 0);
            }
            values.sort_unstable();
            let rank = ((values.len() as f64 * q).ceil() as usize).clamp(1, values.len());
            let exact = values[rank - 1] as f64;
            let got = stats.percentile(q).get().unwrap() as f64;
            prop_assert!((got - exact).abs() <= exact * 0.0635 + 1.0, "{got} for {exact}");
        }

        #[test]
        fn merging_equals_recording_all(a in prop::collection::vec(0u64..1_000_000, 0..60), b in prop::collection::vec(0u64..1_000_000, 0..60)) {
            let mut parts = [CallStats::default(), CallStats::default()];
            let mut whole = CallStats::default();
            for (part, values) in [(0, &a), (1, &b)] {
                for &value in values {
                    parts[part].record(Nanos::new(value), value % 2 == 0, value);
                    whole.record(Nanos::new(value), value % 2 == 0, value);
                }
            }
            let [mut merged, other] = parts;
            merged.merge(&other);
            prop_assert_eq!(merged.count, whole.count);
            prop_assert_eq!(merged.errors, whole.errors);
            prop_assert_eq!(merged.bytes, whole.bytes);
            prop_assert_eq!(merged.total(), whole.total());
            prop_assert_eq!(merged.max(), whole.max());
            prop_assert_eq!(merged.percentile(0.9), whole.percentile(0.9));
        }
    }
}
