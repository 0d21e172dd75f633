//! How many of something there were at moments a quarter of a second apart: what is known throughout, looked at as often as queues
//! are sampled.

use std::collections::BTreeMap;
use whyslow_model::Timestamp;

/// Counts at moments. Bounded: of a long recording moments are twice, four times … as far apart.
#[derive(Clone, Debug)]
pub(crate) struct Moments {
    /// Between two moments, ns.
    step_ns: u64,
    /// By how many more there are from that moment on: moments are numbered since the epoch.
    changes: BTreeMap<u64, i64>,
}

/// What was there in a window.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Count {
    /// Moments in the window.
    pub(crate) moments: u64,
    /// Of these, those with at least one.
    pub(crate) with: u64,
    /// The most at one moment.
    pub(crate) most: u64,
}

impl Default for Moments {
    fn default() -> Moments {
        Moments { step_ns: Moments::STEP_NS, changes: BTreeMap::new() }
    }
}

impl Moments {
    /// As the recorder samples queues.
    const STEP_NS: u64 = 250_000_000;
    /// Changes kept.
    const MOST: usize = 16_384;

    /// One was there from `from` until before `to`.
    pub(crate) fn add(&mut self, from: Timestamp, to: Timestamp) {
        let (Some(from), Some(to)) = (from.get(), to.get()) else { return };
        let (first, end) = (from.div_ceil(self.step_ns), to.div_ceil(self.step_ns));
        // Most are too short to be seen at a moment.
        if first >= end {
            return;
        }
        self.change(first, 1);
        self.change(end, -1);
        while self.changes.len() > Self::MOST {
            self.step_ns *= 2;
            for (moment, by) in std::mem::take(&mut self.changes) {
                self.change(moment.div_ceil(2), by);
            }
        }
    }

    fn change(&mut self, moment: u64, by: i64) {
        let sum = self.changes.entry(moment).or_default();
        *sum += by;
        if *sum == 0 {
            self.changes.remove(&moment);
        }
    }

    /// In the window from `from` until before `to`.
    pub(crate) fn count(&self, from: Timestamp, to: Timestamp) -> Count {
        let (Some(from), Some(to)) = (from.get(), to.get()) else { return Count::default() };
        let (first, end) = (from.div_ceil(self.step_ns), to.div_ceil(self.step_ns));
        let mut count = Count { moments: end.saturating_sub(first), ..Count::default() };
        let (mut there, mut since) = (0i64, first);
        let ends = self.changes.iter().map(|(moment, by)| (*moment, *by)).chain([(end, 0)]);
        for (moment, by) in ends {
            let until = moment.min(end);
            if there > 0 && until > since {
                count.with += until - since;
                count.most = count.most.max(there as u64);
            }
            since = since.max(until);
            there += by;
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(ms: u64) -> Timestamp {
        Timestamp::new(ms * 1_000_000)
    }

    #[test]
    fn moments_in_which_something_was_there_are_counted() {
        let mut moments = Moments::default();
        moments.add(at(10_100), at(10_200));
        assert_eq!(moments.count(at(10_000), at(11_000)), Count { moments: 4, with: 0, most: 0 });
        moments.add(at(10_100), at(10_600));
        moments.add(at(10_400), at(10_501));
        moments.add(at(9_000), at(10_001));
        moments.add(at(10_750), Timestamp::UNKNOWN);
        // At 10,000 the last of them; at 10,250 one; at 10,500 two; at 10,750 none.
        assert_eq!(moments.count(at(10_000), at(11_000)), Count { moments: 4, with: 3, most: 2 });
        assert_eq!(moments.count(at(10_700), at(11_000)), Count { moments: 1, with: 0, most: 0 });
        assert_eq!(moments.count(at(10_700), Timestamp::UNKNOWN), Count::default());
    }

    proptest! {
        #[test]
        fn counting_each_moment_comes_to_the_same(
            spans in prop::collection::vec((0u64..40_000, 0u64..5_000), 0..40),
            (from, length) in (0u64..40_000, 0u64..40_000),
        ) {
            let mut moments = Moments::default();
            for (from, length) in &spans {
                moments.add(at(*from), at(from + length));
            }
            let looked: Vec<u64> = (from.div_ceil(250)..(from + length).div_ceil(250))
                .map(|moment| spans.iter().filter(|(from, length)| (*from..from + length).contains(&(moment * 250))).count() as u64)
                .collect();
            let with = looked.iter().filter(|count| **count > 0).count() as u64;
            let most = looked.iter().copied().max().unwrap_or(0);
            let expected = Count { moments: looked.len() as u64, with, most };
            prop_assert_eq!(moments.count(at(from), at(from + length)), expected);
        }
    }

    #[test]
    fn a_long_recording_is_bounded() {
        let mut moments = Moments::default();
        for n in 0..100_000 {
            moments.add(at(n * 500), at(n * 500 + 250));
        }
        assert!(moments.changes.len() <= Moments::MOST && moments.step_ns > Moments::STEP_NS);
        let count = moments.count(at(0), at(50_000_000));
        assert!(count.with > 0 && count.with <= count.moments, "{count:?}");
    }
}
