//! What a fold of calls is, and which calls each one wants, as a table of bits.

use crate::durations::SLOW_CALL;
use crate::world::{Seen, World};
use whyslow_model::{Call, Syscall};

/// Which calls of a syscall a fold wants to see.
pub(crate) enum When {
    /// All.
    Always,
    /// Those that returned an error.
    Failed,
    /// Those that took [`SLOW_CALL`] or longer.
    Slow,
}

/// One fold: sees the calls it asked for, in order of completion.
pub(crate) trait Fold {
    /// Whether it wants to see calls of this syscall.
    fn wants(&self, syscall: Syscall) -> bool;
    /// Which of these calls.
    fn when(&self, _syscall: Syscall) -> When {
        When::Always
    }
    /// Sees one call. The world has taken the call in already.
    fn call(&mut self, seen: &Seen<'_>, world: &World);
}

/// Which folds want which calls: for each syscall a set of folds, as bits in the order of the registry.
pub(crate) struct Interests {
    always: [u64; Interests::SLOTS],
    failed: [u64; Interests::SLOTS],
    slow: [u64; Interests::SLOTS],
}

impl Interests {
    /// One slot for each listed syscall and the last for all others.
    const SLOTS: usize = Syscall::FIRST_UNLISTED as usize + 1;
    pub(crate) const NONE: Interests =
        Interests { always: [0; Self::SLOTS], failed: [0; Self::SLOTS], slow: [0; Self::SLOTS] };

    pub(crate) fn add(&mut self, fold: &dyn Fold, number: u32) {
        for slot in 0..Self::SLOTS {
            let syscall = Syscall(slot as u16);
            if fold.wants(syscall) {
                let set = match fold.when(syscall) {
                    When::Always => &mut self.always,
                    When::Failed => &mut self.failed,
                    When::Slow => &mut self.slow,
                };
                set[slot] |= 1 << number;
            }
        }
    }

    /// The folds that want to see this call.
    #[inline]
    pub(crate) fn of(&self, call: &Call<'_>) -> u64 {
        let slot = (call.syscall.0 as usize).min(Self::SLOTS - 1);
        let mut folds = self.always[slot];
        if call.errno.is_error() {
            folds |= self.failed[slot];
        }
        if call.dur.or_zero() >= SLOW_CALL.or_zero() {
            folds |= self.slow[slot];
        }
        folds
    }
}
