//! Laps: turns of a loop that got nothing done, with the time they took.

use crate::exemplar::Exemplars;
use crate::{CHEAP_CALL, words};
use whyslow_model::{Call, Nanos, Timestamp};

/// Turns of a loop that got nothing done, counted where one follows the other at once.
#[derive(Clone, Debug, Default)]
pub struct Laps {
    /// Turns.
    pub turns: u64,
    /// Calls made in them.
    pub calls: u64,
    /// Their time from start to start, ns; of the turns whose start is known.
    pub time_ns: u64,
    /// Turns whose start is known.
    pub timed: u64,
    /// When the last one was.
    pub last: Timestamp,
    /// Lines.
    pub exemplars: Exemplars,
}

impl Laps {
    /// Counts the turn that ends with `call`, took `time` and made `calls` calls.
    #[inline]
    pub(crate) fn turn(&mut self, call: &Call<'_>, time: Nanos, calls: u64) {
        self.turns += 1;
        self.calls = self.calls.saturating_add(calls);
        if let Some(ns) = time.get() {
            self.time_ns = self.time_ns.saturating_add(ns);
            self.timed += 1;
        }
        self.last = call.ts;
        self.exemplars.see(call);
    }

    /// Time spent going round; unknown without a clock.
    pub fn time(&self) -> Nanos {
        if self.timed == 0 { Nanos::UNKNOWN } else { Nanos::new(self.time_ns) }
    }

    /// `1,234 times, 9,876 a second`; without a clock only how often.
    pub fn often(&self) -> String {
        match self.per_second() {
            Some(rate) => format!("{} times, {} per second", words::count(self.turns), words::quantity(rate)),
            None => format!("{} times", words::count(self.turns)),
        }
    }

    /// Turns a second while it went round; `None` without a clock.
    pub fn per_second(&self) -> Option<f64> {
        (self.time_ns > 0).then(|| self.timed as f64 * 1e9 / self.time_ns as f64)
    }
}

/// True where `time` lies within a lap of at most `longest` ns; an unknown time may.
#[inline]
pub(crate) fn within(time: Nanos, longest: u64) -> bool {
    time.get().is_none_or(|ns| ns <= longest)
}

/// How long a lap of `calls` calls may be where `call`, which returns at once, is stopped by a tracer: by itself it takes less
/// than [`CHEAP_CALL`], what it takes in the capture is one stop, and twice that lies between two calls
/// ([`Pace`](crate::pace::Pace)).
#[inline]
pub(crate) fn paced(longest: u64, call: &Call<'_>, calls: u64) -> u64 {
    /// A stop takes no longer; and a lap with more calls is no spin.
    const STOP_NS: u64 = 1_000_000;
    const CALLS: u64 = 8;
    match call.dur.or_zero() {
        cheap if cheap <= CHEAP_CALL.or_zero() => longest,
        stop => longest + 3 * stop.min(STOP_NS) * calls.min(CALLS),
    }
}

/// The time from one start to the next. A clock that stepped back gives no time, and no lap either.
#[inline]
pub(crate) fn lap_time(from: Timestamp, to: Timestamp) -> Option<Nanos> {
    match (from.is_known(), to.is_known()) {
        (true, true) => Some(to.since(from)).filter(|time| time.is_known()),
        (false, false) => Some(Nanos::UNKNOWN),
        _ => None,
    }
}
