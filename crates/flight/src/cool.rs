//! Cool downs: of one trigger the next recording comes no sooner than some time after the last, and what is passed over is counted.

use std::time::{Duration, Instant};

/// One trigger's.
#[derive(Default, Debug)]
pub(crate) struct Cool {
    last: Option<Instant>,
    passed_over: u64,
}

impl Cool {
    /// Whether a trigger that fires `now` is to be kept; with how often it was passed over since the last one.
    pub(crate) fn take(&mut self, now: Instant, least: Duration) -> Option<u64> {
        if self.last.is_some_and(|last| now.saturating_duration_since(last) < least) {
            self.passed_over += 1;
            return None;
        }
        self.last = Some(now);
        Some(std::mem::take(&mut self.passed_over))
    }

    /// So often it was passed over since the last one that was kept.
    pub(crate) fn passed_over(&self) -> u64 {
        self.passed_over
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_too_soon_is_counted() {
        let (mut cool, least, begin) = (Cool::default(), Duration::from_secs(60), Instant::now());
        let mut at = |second| cool.take(begin + Duration::from_secs(second), least);
        assert_eq!(
            [at(0), at(1), at(59), at(60), at(61), at(121)],
            [Some(0), None, None, Some(2), None, Some(1)]
        );
        assert_eq!(cool.passed_over(), 0);
    }
}
