//! Waits that look like those for CPython's global interpreter lock: a condition variable waited for in steps of 5 ms.

use crate::exemplar::Exemplars;
use crate::world::ids::ProcessId;
use crate::world::{Seen, World};
use crate::{Fold, When};
use whyslow_model::event::Tid;
use whyslow_model::{Errno, Nanos, Syscall};

/// One condition variable.
#[derive(Debug)]
pub struct SteppedLock {
    /// The process.
    pub process: ProcessId,
    /// Its address, without the bit that tells its two groups of waiters apart.
    pub address: u64,
    /// Waits of a millisecond or more.
    pub waits: u64,
    /// Time in them, ns.
    pub wait_ns: u64,
    /// Of these, waits that ended because the step was over.
    pub steps: u64,
    /// Who waited, and how long, ns; the first few threads.
    pub waiters: Vec<(Tid, u64)>,
    /// Lines of steps.
    pub exemplars: Exemplars,
}

/// Such condition variables by process.
#[derive(Debug, Default)]
pub struct SteppedLocks {
    /// The rows.
    pub rows: Vec<SteppedLock>,
}

impl SteppedLocks {
    /// CPython's switch interval (sys.getswitchinterval), after which a waiter asks for the lock.
    pub const SWITCH_INTERVAL: Nanos = Nanos::from_millis(5);
    /// The switch interval, ns, and what a busy machine or a tracer adds to it.
    const STEP: std::ops::RangeInclusive<u64> = 4_900_000..=8_000_000;
    /// Rows kept; only an address that was left by a time limit of that length gets one.
    const MAX_ROWS: usize = 128;
    /// Threads kept of each.
    const MAX_WAITERS: usize = 64;
    /// glibc's condition variable has two words of waiters side by side, which take turns.
    const GROUP_BIT: u64 = 4;

    fn is_step(ns: Nanos, errno: Errno) -> bool {
        errno == Errno::ETIMEDOUT && Self::STEP.contains(&ns.or_zero())
    }
}

impl Fold for SteppedLocks {
    fn wants(&self, syscall: Syscall) -> bool {
        matches!(syscall, Syscall::FUTEX | Syscall::FUTEX_TIME64)
    }

    fn when(&self, _: Syscall) -> When {
        When::Slow
    }

    fn call(&mut self, seen: &Seen<'_>, _: &World) {
        let call = seen.call;
        let Some((address, ..)) = seen.futex.filter(|_| seen.waits.is_some()) else { return };
        let address = address & !Self::GROUP_BIT;
        let step = Self::is_step(call.dur, call.errno);
        let known = self.rows.iter().position(|row| row.process == seen.process && row.address == address);
        let at = match known {
            Some(at) => at,
            None if step && self.rows.len() < Self::MAX_ROWS => {
                self.rows.push(SteppedLock {
                    process: seen.process,
                    address,
                    waits: 0,
                    wait_ns: 0,
                    steps: 0,
                    waiters: Vec::new(),
                    exemplars: Exemplars::default(),
                });
                self.rows.len() - 1
            }
            None => return,
        };
        let row = &mut self.rows[at];
        let ns = call.dur.or_zero();
        row.waits += 1;
        row.wait_ns = row.wait_ns.saturating_add(ns);
        row.steps += step as u64;
        if step {
            row.exemplars.see(call);
        }
        match row.waiters.iter().position(|(tid, _)| *tid == call.tid) {
            Some(at) => row.waiters[at].1 += ns,
            None if row.waiters.len() < Self::MAX_WAITERS => row.waiters.push((call.tid, ns)),
            None => {}
        }
    }
}
