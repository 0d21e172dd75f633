//! Tries that nearly all fail, by the sums of a recording that keeps counts instead of single calls.

use crate::gate::gated;
use crate::guards::{self, Share};
use crate::sums;
use whyslow_facts::Facts;
use whyslow_model::{CallStats, Measurement, Syscall, Tid};

/// The part of the tries that fails, from which on the loop has no other purpose. One that drains a ready descriptor fails
/// once for each time that it brings something.
const FAILING: f64 = 0.9;
/// Calls that try, where the one error that comes thousands of times a second is EAGAIN.
const TRIES: [Syscall; 8] = [
    Syscall::READ,
    Syscall::RECVFROM,
    Syscall::RECVMSG,
    Syscall::WRITE,
    Syscall::SENDTO,
    Syscall::SENDMSG,
    Syscall::ACCEPT,
    Syscall::ACCEPT4,
];
/// Calls that wait or yield between the tries. Where a quarter of the tries have one, the loop does not spin by these tries alone.
const PAUSES: [Syscall; 11] = [
    Syscall::POLL,
    Syscall::PPOLL,
    Syscall::SELECT,
    Syscall::PSELECT6,
    Syscall::EPOLL_WAIT,
    Syscall::EPOLL_PWAIT,
    Syscall::EPOLL_PWAIT2,
    Syscall::NANOSLEEP,
    Syscall::CLOCK_NANOSLEEP,
    Syscall::FUTEX,
    Syscall::SCHED_YIELD,
];

/// What one thread tries.
pub(super) struct Tries {
    /// The thread.
    pub tid: Tid,
    /// The call that fails.
    pub syscall: Syscall,
    /// All calls of that kind.
    pub calls: CallStats,
    /// Failures a second.
    pub per_second: f64,
    /// Their part of the thread's time.
    pub share: Share,
}

impl Tries {
    /// What it was found by.
    pub(super) fn figures(&self) -> [Measurement; 6] {
        let CallStats { count, errors, .. } = self.calls;
        [
            Measurement::count("errors", errors).at_least(guards::FEW_CALLS as f64),
            Measurement::count("calls", count),
            Measurement::share("error_share", errors as f64 / count.max(1) as f64).at_least(FAILING),
            Measurement::per_second("errors_per_second", self.per_second).at_least(guards::SPIN_TURNS_PER_S),
            Measurement::time("time", self.calls.total()),
            self.share.figure().at_least(guards::WARNING_SHARE),
        ]
    }
}

/// Threads that do little but try in vain, the costliest first.
#[gated]
pub(super) fn failing(facts: &Facts) -> Vec<Tries> {
    let mut found: Vec<Tries> = sums::by_thread(facts)
        .filter_map(|sums| {
            let each = TRIES.iter().map(|syscall| (*syscall, sums.of(&[*syscall])));
            let (syscall, calls) = each.max_by_key(|(_, stats)| stats.errors)?;
            let (per_second, share) = (sums.per_second(calls.errors), sums.share(calls.total()));
            let spins = calls.errors as f64 >= FAILING * calls.count as f64
                && calls.errors >= guards::FEW_CALLS
                && per_second >= guards::SPIN_TURNS_PER_S
                && sums.of(&PAUSES).count.saturating_mul(4) < calls.errors;
            (spins && sums::is_cause(&share)).then_some(Tries {
                tid: sums.thread.tid,
                syscall,
                calls,
                per_second,
                share,
            })
        })
        .collect();
    found.sort_by_key(|tries| std::cmp::Reverse((tries.calls.total_ns, tries.calls.errors)));
    found
}
