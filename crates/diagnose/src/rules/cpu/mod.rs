//! Rules about CPU time spent for nothing.

pub(super) mod clock_syscall;
pub(super) mod sched_yield_spin;
