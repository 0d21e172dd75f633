//! A source's timestamps made continuous: days added at midnight, differences summed up.

use super::record::{NO_TIME, Record};
use whyslow_model::{ClockKind, Timestamp};

const DAY: u64 = 86_400_000_000_000;

/// The clock of one source.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    kind: ClockKind,
    /// Days since the one the capture began on, in ns.
    days: u64,
    /// The last time of day, or the sum of the differences so far.
    last: u64,
}

impl Clock {
    /// A clock that starts `days` (in ns) after the day that the first source began on.
    pub(crate) fn new(days: u64) -> Clock {
        Clock { kind: ClockKind::None, days, last: 0 }
    }

    /// What the timestamps mean, as far as seen.
    pub(crate) fn kind(&self) -> ClockKind {
        self.kind
    }

    /// The point in time of a line; unknown without a timestamp, or with one of another kind than the first.
    #[inline]
    pub(crate) fn at(&mut self, record: &Record) -> Timestamp {
        if record.ts == NO_TIME {
            return Timestamp::UNKNOWN;
        }
        let kind = record.marks.clock();
        if kind != self.kind {
            if self.kind != ClockKind::None {
                return Timestamp::UNKNOWN;
            }
            self.kind = kind;
            if kind == ClockKind::Relative {
                // The first difference counts from a line that is not here: time starts with this one.
                return Timestamp::ZERO;
            }
        }
        match kind {
            ClockKind::TimeOfDay => {
                // Lines of several threads may be a little out of order; half a day back is midnight.
                if record.ts.saturating_add(DAY / 2) < self.last {
                    self.days = self.days.saturating_add(DAY);
                }
                self.last = record.ts;
                Timestamp::new(self.days.saturating_add(record.ts))
            }
            ClockKind::Relative => {
                self.last = self.last.saturating_add(record.ts).min(NO_TIME - 1);
                Timestamp::new(self.last)
            }
            ClockKind::Epoch | ClockKind::None => record.shown_ts(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::record::Marks;
    use super::*;

    fn record(ts: u64, kind: ClockKind) -> Record {
        Record { ts, marks: Marks::of_clock(kind, true), ..Record::default() }
    }

    #[test]
    fn midnight_adds_a_day_and_small_steps_back_do_not() {
        let mut clock = Clock::new(0);
        let second = 1_000_000_000;
        let at = |clock: &mut Clock, ts| clock.at(&record(ts, ClockKind::TimeOfDay)).get().unwrap();
        assert_eq!(at(&mut clock, DAY - second), DAY - second);
        assert_eq!(at(&mut clock, DAY - 2 * second), DAY - 2 * second);
        assert_eq!(at(&mut clock, second), DAY + second);
        assert_eq!(at(&mut clock, 2 * second), DAY + 2 * second);
        assert_eq!(clock.kind(), ClockKind::TimeOfDay);
        assert_eq!(clock.at(&record(5, ClockKind::Epoch)), Timestamp::UNKNOWN);
    }

    #[test]
    fn differences_are_summed_from_the_first_line_on() {
        let mut clock = Clock::new(0);
        let times = [700, 20, 3].map(|ts| clock.at(&record(ts, ClockKind::Relative)).get());
        assert_eq!(times, [Some(0), Some(20), Some(23)]);
    }
}
