//! Latencies by powers of two of a microsecond, as biolatency counts them: of a set of requests, and over time.

use whyslow_model::{Nanos, Timestamp};

/// A histogram of latencies. A row's range is `[2^(row-1), 2^row)` microseconds; the first one is below a microsecond.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Log2 {
    counts: [u32; Log2::ROWS],
}

impl Default for Log2 {
    fn default() -> Self {
        Log2 { counts: [0; Log2::ROWS] }
    }
}

impl Log2 {
    /// The last one holds what takes 67 s and more.
    pub const ROWS: usize = 28;

    /// The row of a latency.
    fn row(took: u64) -> usize {
        let microseconds = took / 1_000;
        (u64::BITS - microseconds.leading_zeros()).min(Self::ROWS as u32 - 1) as usize
    }

    /// The latencies of a row: from the first on, below the second.
    pub fn range(row: usize) -> (Nanos, Nanos) {
        let power = |exponent: usize| Nanos::new(1_000 << exponent.min(Self::ROWS));
        (if row == 0 { Nanos::new(0) } else { power(row - 1) }, power(row))
    }

    fn record(&mut self, took: u64) {
        let count = &mut self.counts[Self::row(took)];
        *count = count.saturating_add(1);
    }

    /// Counts one latency, where it is known.
    pub fn see(&mut self, took: Nanos) {
        if let Some(took) = took.get() {
            self.record(took);
        }
    }

    /// Adds another's counts.
    pub fn merge(&mut self, other: &Log2) {
        for (count, more) in self.counts.iter_mut().zip(other.counts) {
            *count = count.saturating_add(more);
        }
    }

    /// The counts, a row each.
    pub fn counts(&self) -> &[u32; Log2::ROWS] {
        &self.counts
    }

    /// The rows from the first to the last that is not empty; `None` where all are.
    pub fn used(&self) -> Option<std::ops::RangeInclusive<usize>> {
        let first = self.counts.iter().position(|count| *count > 0)?;
        let last = self.counts.iter().rposition(|count| *count > 0)?;
        Some(first..=last)
    }
}

/// Latencies over time. How long it will be is not known before its end: slots begin narrow, and neighbours are joined each
/// time the last one is passed.
#[derive(Clone, Debug)]
pub struct Heat {
    /// When the first request was completed, ns.
    start: Option<u64>,
    /// A slot is `1 << shift` ns wide.
    shift: u32,
    slots: Vec<Log2>,
}

impl Default for Heat {
    fn default() -> Self {
        Heat { start: None, shift: Heat::FIRST_SHIFT, slots: Vec::new() }
    }
}

impl Heat {
    /// As many columns as a wide terminal has.
    const SLOTS: usize = 240;
    /// Slots begin 1 ms (1.05 ms) wide.
    const FIRST_SHIFT: u32 = 20;

    /// Counts a request that was completed then; one that came before the first is counted with it.
    pub(super) fn see(&mut self, completed: Timestamp, took: Nanos) {
        let (Some(at), Some(took)) = (completed.get(), took.get()) else { return };
        let since = at.saturating_sub(*self.start.get_or_insert(at));
        while since >> self.shift >= Self::SLOTS as u64 {
            self.shift += 1;
            let pairs = self.slots.chunks(2).map(joined).collect();
            self.slots = pairs;
        }
        let slot = (since >> self.shift) as usize;
        if slot >= self.slots.len() {
            self.slots.resize(slot + 1, Log2::default());
        }
        self.slots[slot].record(took);
    }

    /// When the first column begins.
    pub fn start(&self) -> Timestamp {
        self.start.map_or(Timestamp::UNKNOWN, Timestamp::new)
    }

    /// At most so many columns, and how long each is.
    pub fn columns(&self, most: usize) -> (Vec<Log2>, Nanos) {
        let each = self.slots.len().div_ceil(most.max(1)).max(1);
        let columns = self.slots.chunks(each).map(joined).collect();
        (columns, Nanos::new((1u64 << self.shift).saturating_mul(each as u64)))
    }
}

/// The sum of some columns.
fn joined(part: &[Log2]) -> Log2 {
    part.iter().fold(Log2::default(), |mut sum, slot| {
        sum.merge(slot);
        sum
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn rows_are_those_of_biolatency() {
        let row = |us: u64| Log2::row(us * 1_000);
        assert_eq!([0, 1, 2, 3, 4, 127, 128].map(row), [0, 1, 2, 2, 3, 7, 8]);
        assert_eq!(Log2::range(8), (Nanos::new(128_000), Nanos::new(256_000)));
        assert_eq!(Log2::range(0), (Nanos::new(0), Nanos::new(1_000)));
        assert_eq!(Log2::row(u64::MAX), Log2::ROWS - 1);
    }

    proptest! {
        #[test]
        fn every_request_is_in_one_slot_and_in_its_row(
            requests in prop::collection::vec((0u64..1 << 62, 0u64..1 << 40), 1..80),
            most in 1usize..300,
        ) {
            let mut heat = Heat::default();
            let mut all = Log2::default();
            for (at, took) in &requests {
                heat.see(Timestamp::new(*at), Nanos::new(*took));
                all.see(Nanos::new(*took));
                let row = Log2::row(*took);
                let (from, to) = Log2::range(row);
                let last = row == Log2::ROWS - 1;
                prop_assert!(from <= Nanos::new(*took) && (last || Nanos::new(*took) < to));
            }
            let (columns, slot) = heat.columns(most);
            prop_assert!(columns.len() <= most.min(Heat::SLOTS) && slot.is_known());
            prop_assert_eq!(joined(&columns), all);
        }
    }
}
