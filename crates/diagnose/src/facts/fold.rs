//! How folds are fed: which calls each one wants, as a table of bits, and the loop over them.

use super::{Facts, Seen, World};
use whyslow_model::{Call, Nanos, Syscall};

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

/// A call from which on a fold that asks for slow calls sees it: shorter ones explain nothing by themselves.
pub(crate) const SLOW_CALL: Nanos = Nanos::from_millis(1);

/// Which folds want which calls: for each syscall a set of folds, as bits in the order of `fold_calls!`.
pub(super) struct Interests {
    always: [u64; Interests::SLOTS],
    failed: [u64; Interests::SLOTS],
    slow: [u64; Interests::SLOTS],
}

impl Interests {
    /// One slot for each listed syscall and the last for all others.
    const SLOTS: usize = Syscall::FIRST_UNLISTED as usize + 1;
    pub(super) const NONE: Interests =
        Interests { always: [0; Self::SLOTS], failed: [0; Self::SLOTS], slow: [0; Self::SLOTS] };

    fn add(&mut self, fold: &dyn Fold, number: u32) {
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
    fn of(&self, call: &Call<'_>) -> u64 {
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

macro_rules! fold_calls {
    ($($field:ident),* $(,)?) => {
        /// The folds by number.
        #[allow(non_camel_case_types)]
        #[repr(u32)]
        enum FoldNumber { $($field),* }

        #[allow(non_upper_case_globals)]
        mod fold_number {
            $(pub(super) const $field: u32 = super::FoldNumber::$field as u32;)*
        }

        impl Facts {
            pub(super) fn interests(&self) -> Box<Interests> {
                let mut interests = Box::new(Interests::NONE);
                $(interests.add(&self.$field, fold_number::$field);)*
                interests
            }

            #[inline]
            pub(super) fn fold(&mut self, seen: &Seen<'_>) {
                let mut folds = self.interests.of(seen.call);
                while folds != 0 {
                    let number = folds.trailing_zeros();
                    folds &= folds - 1;
                    match number {
                        $(fold_number::$field => self.$field.call(seen, &self.world),)*
                        _ => {}
                    }
                }
            }
        }
    };
}
fold_calls!(
    waits,
    work,
    activity,
    errors,
    searches,
    spawns,
    close_loops,
    slow_files,
    duplicates,
    log_levels,
    peers,
    hidden,
    limits,
    readiness,
    again,
    locks,
    sleeps,
    busy,
    memory,
    requests,
    graph,
    file_locks,
    exchanges,
    loops,
    dns_names,
    gil,
    herds,
    copies
);
