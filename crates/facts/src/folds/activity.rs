//! Calls over time: for each thread a few counts that together cover the window.

use crate::world::{Seen, World};
use crate::{Fold, ThreadId};
use whyslow_model::event::Tid;
use whyslow_model::{Nanos, Syscall};

/// Calls over time, a row a thread. The length of the window is not known before its end: slots begin narrow,
/// and neighbours are joined each time the last one is passed.
#[derive(Debug)]
pub struct Activity {
    /// The first start of a call, ns.
    start: Option<u64>,
    /// A slot is `1 << shift` ns wide.
    shift: u32,
    rows: Vec<(Tid, [u32; Activity::SLOTS])>,
}

impl Default for Activity {
    fn default() -> Self {
        Activity { start: None, shift: Activity::FIRST_SHIFT, rows: Vec::new() }
    }
}

impl Activity {
    /// Slots a thread: at least half of them are in use once the window is longer than [`Self::SLOTS`] ms.
    pub const SLOTS: usize = 20;
    /// Slots begin 1 ms (1.05 ms) wide.
    const FIRST_SHIFT: u32 = 20;

    /// How long a slot is.
    pub fn slot(&self) -> Nanos {
        Nanos::new(1 << self.shift)
    }

    /// Slots that cover the window.
    pub fn used(&self) -> usize {
        let last = |row: &[u32; Self::SLOTS]| row.iter().rposition(|count| *count > 0).map_or(0, |at| at + 1);
        self.rows.iter().map(|(_, row)| last(row)).max().unwrap_or(0)
    }

    /// Calls of a thread that began in each slot of the window; empty without a clock.
    pub fn of(&self, thread: ThreadId) -> &[u32] {
        self.rows.get(thread.0 as usize).map_or(&[], |(_, row)| &row[..self.used()])
    }

    /// Joins neighbouring slots until `since_start` falls into one.
    #[cold]
    fn widen(&mut self, since_start: u64) {
        while since_start >> self.shift >= Self::SLOTS as u64 {
            self.shift += 1;
            for (_, row) in &mut self.rows {
                for at in 0..Self::SLOTS {
                    let pair = row.get(2 * at..2 * at + 2).unwrap_or(&[]);
                    row[at] = pair.iter().fold(0u32, |sum, count| sum.saturating_add(*count));
                }
            }
        }
    }
}

impl Fold for Activity {
    fn wants(&self, _: Syscall) -> bool {
        true
    }

    #[inline]
    fn call(&mut self, seen: &Seen<'_>, _: &World) {
        let Some(ts) = seen.call.ts.get() else { return };
        // Calls come in the order of their ends: one may have begun before the first. It counts as begun with it.
        let since_start = ts.saturating_sub(*self.start.get_or_insert(ts));
        if since_start >> self.shift >= Self::SLOTS as u64 {
            self.widen(since_start);
        }
        let at = seen.thread.0 as usize;
        if at >= self.rows.len() {
            self.rows.resize(at + 1, (0, [0; Self::SLOTS]));
        }
        let (tid, row) = &mut self.rows[at];
        if *tid != seen.call.tid {
            // The place of a thread that ended was given to another one.
            (*tid, *row) = (seen.call.tid, [0; Self::SLOTS]);
        }
        let count = &mut row[(since_start >> self.shift) as usize];
        *count = count.saturating_add(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Facts;
    use proptest::prelude::*;
    use whyslow_model::{Call, Event, Sink, Timestamp};

    proptest! {
        #[test]
        fn every_call_is_in_one_slot(times in prop::collection::vec(0u64..u64::MAX - 1, 1..60)) {
            let mut facts = Facts::default();
            for ts in &times {
                let mut call = Call::new("getpid", "");
                call.ts = Timestamp::new(*ts);
                facts.push(Event::Call(&call));
            }
            let counts = facts.activity.of(ThreadId(0));
            prop_assert_eq!(counts.iter().map(|count| *count as usize).sum::<usize>(), times.len());
        }
    }

    #[test]
    fn a_steady_thread_has_even_slots() {
        let mut facts = Facts::default();
        for i in 0..10_000u64 {
            let mut call = Call::new("getpid", "");
            call.ts = Timestamp::new(i * 1_000_000);
            facts.push(Event::Call(&call));
        }
        let counts = facts.activity.of(ThreadId(0));
        assert!(counts.len() > Activity::SLOTS / 2, "{counts:?}");
        let whole = &counts[..counts.len() - 1];
        assert!(whole.iter().all(|count| count.abs_diff(whole[0]) <= 1), "{counts:?}");
    }
}
