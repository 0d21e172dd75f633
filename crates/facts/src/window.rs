//! The window: first and last time seen.

use whyslow_model::{Nanos, Timestamp};

/// From the first to the last moment that the capture shows.
#[derive(Clone, Copy, Debug, Default)]
pub struct Window {
    /// The first timestamp.
    pub start: Timestamp,
    /// The last timestamp, or the end of a call that ended later.
    pub end: Timestamp,
    /// Of it, the time in which each call was recorded; unknown where that is all of it.
    pub in_full: Nanos,
}

impl Window {
    /// Widens the window.
    #[inline]
    pub fn see(&mut self, ts: Timestamp, dur: Nanos) {
        let Some(start) = ts.get() else { return };
        if self.start.get().is_none_or(|known| start < known) {
            self.start = ts;
        }
        // The largest number stands for an unknown time.
        let end = start.saturating_add(dur.or_zero()).min(u64::MAX - 1);
        if self.end.get().is_none_or(|known| end > known) {
            self.end = Timestamp::new(end);
        }
    }

    /// Its length, without the time in which calls were not recorded one by one; all of it where none was, and they were only counted all the
    /// while. Unknown without a clock.
    pub fn length(&self) -> Nanos {
        if self.in_full.or_zero() > 0 { self.in_full } else { self.whole() }
    }

    /// From its start to its end; unknown without a clock.
    pub fn whole(&self) -> Nanos {
        self.end.since(self.start)
    }

    /// A count a second; `None` without a clock or in a window of no length.
    pub fn per_second(&self, count: u64) -> Option<f64> {
        let seconds = self.length().as_secs_f64()?;
        (seconds > 0.0).then(|| count as f64 / seconds)
    }
}

/// A count a second over a window, where the window's length is known and not nothing.
pub fn per_second(count: u64, from: Timestamp, to: Timestamp) -> Option<f64> {
    let seconds = to.since(from).as_secs_f64()?;
    (seconds > 0.0).then(|| count as f64 / seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_that_were_only_counted_have_a_rate_over_all_of_the_time() {
        let (start, end) = (Timestamp::new(1), Timestamp::new(2_000_000_001));
        let rate = |in_full| Window { start, end, in_full }.per_second(100);
        assert_eq!(rate(Nanos::UNKNOWN), Some(50.0));
        assert_eq!(rate(Nanos::from_secs(1)), Some(100.0));
        assert_eq!(rate(Nanos::ZERO), Some(50.0));
    }
}
