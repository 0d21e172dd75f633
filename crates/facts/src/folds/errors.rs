//! Failed calls, by syscall and error.

use crate::world::{Seen, World};
use crate::{Fold, When};
use hashbrown::HashMap;
use whyslow_model::{CallStats, Errno, Syscall};

/// Statistics of the calls that failed. Bounded by the number of syscalls and errors there are.
#[derive(Debug, Default)]
pub struct Errors {
    by_call: HashMap<(Syscall, Errno), CallStats, foldhash::fast::RandomState>,
}

impl Errors {
    /// Pairs kept apart; later ones share the row of unlisted calls. A busy host shows some dozens.
    const MAX_PAIRS: usize = 4096;

    /// Each syscall and error with the calls that failed so, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (Syscall, Errno, &CallStats)> {
        self.by_call.iter().map(|((syscall, errno), stats)| (*syscall, *errno, stats))
    }
}

impl Fold for Errors {
    fn wants(&self, _: Syscall) -> bool {
        true
    }

    fn when(&self, _: Syscall) -> When {
        When::Failed
    }

    #[inline]
    fn call(&mut self, seen: &Seen<'_>, _: &World) {
        let call = seen.call;
        if !call.failed() {
            return;
        }
        let mut key = (call.syscall, call.errno);
        if self.by_call.len() >= Self::MAX_PAIRS && !self.by_call.contains_key(&key) {
            key.0 = Syscall::UNLISTED;
        }
        let stats = self.by_call.entry(key).or_default();
        stats.record(call.dur, true, 0);
        if seen.waits.is_some() {
            stats.waiting_ns = stats.waiting_ns.saturating_add(call.dur.or_zero());
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Facts;
    use whyslow_model::{Call, Errno, Event, Nanos, Ret, Sink};

    #[test]
    fn only_failures_count() {
        let mut facts = Facts::default();
        for errno in [Errno::ENOENT, Errno::NONE, Errno::ENOENT, Errno::ERESTARTSYS] {
            let mut call = Call::new("stat", "\"/x\", 0x1");
            call.ret = Ret::Value(if errno.is_error() { -1 } else { 0 });
            call.errno = errno;
            call.dur = Nanos::new(1_000);
            facts.push(Event::Call(&call));
        }
        let rows: Vec<_> = facts.errors.iter().collect();
        assert_eq!(rows.len(), 1);
        assert_eq!((rows[0].1, rows[0].2.count, rows[0].2.total()), (Errno::ENOENT, 2, Nanos::new(2_000)));
    }
}
