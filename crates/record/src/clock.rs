//! The kernel's clock and the calendar's.

use rustix::time::{ClockId, clock_gettime};
use whyslow_model::Timestamp;

/// The way from the clock of the kernel's side (`CLOCK_MONOTONIC`) to the calendar's.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// ns to add to `CLOCK_MONOTONIC` for `CLOCK_REALTIME`, as of the recording's start.
    pub offset: u64,
}

impl Clock {
    /// As of now. Of three readings the one with the least time between its two clocks counts.
    pub fn now() -> Clock {
        let reading = |_| {
            let before = monotonic_ns();
            let real = ns(ClockId::Realtime);
            let took = monotonic_ns() - before;
            (took, real.wrapping_sub(before + took / 2))
        };
        let (_, offset) = (0..3).map(reading).min().unwrap_or_default();
        Clock { offset }
    }

    /// The time now.
    pub fn now_epoch(&self) -> Timestamp {
        self.epoch(monotonic_ns())
    }

    /// A point of the kernel's clock.
    pub fn epoch(&self, monotonic: u64) -> Timestamp {
        Timestamp::new(monotonic.wrapping_add(self.offset))
    }
}

fn ns(id: ClockId) -> u64 {
    let time = clock_gettime(id);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// `CLOCK_MONOTONIC`, ns.
pub(crate) fn monotonic_ns() -> u64 {
    ns(ClockId::Monotonic)
}

/// CPU time of this thread, ns.
pub(crate) fn thread_cpu_ns() -> u64 {
    ns(ClockId::ThreadCPUTime)
}
