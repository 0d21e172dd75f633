//! What each thread has in hand: something that a call brought it, up to its next call on anything else. The time between the calls is
//! spent on that.

use crate::args::WaitKind;
use crate::world::Seen;
use whyslow_model::{Nanos, Timestamp};

/// A lock that is waited for longer is no matter in passing: 20 turns of CPython's interpreter lock
/// (`sys.getswitchinterval()`, 5 ms).
const IN_PASSING: Nanos = Nanos::from_millis(100);

/// What all threads have in hand.
#[derive(Debug)]
pub(crate) struct InHand<T> {
    /// By the place of a thread: what it has, and when its last call ended.
    threads: Vec<Option<(T, Timestamp)>>,
}

impl<T> Default for InHand<T> {
    fn default() -> InHand<T> {
        InHand { threads: Vec::new() }
    }
}

impl<T: Copy> InHand<T> {
    /// What the calling thread has, and the ns between its last call and this one where these are known.
    #[inline]
    pub(crate) fn of(&self, seen: &Seen<'_>) -> Option<(T, Option<u64>)> {
        let (held, since) = self.threads.get(seen.thread.0 as usize).copied().flatten()?;
        Some((held, seen.call.ts.since(since).get()))
    }

    /// What it has from now on.
    pub(crate) fn put(&mut self, seen: &Seen<'_>, held: Option<T>) {
        let at = seen.thread.0 as usize;
        if at >= self.threads.len() {
            self.threads.resize(at + 1, None);
        }
        self.threads[at] = held.map(|held| (held, seen.call.end()));
    }
}

/// True for a call that says nothing of what the thread works on: it keeps what it has.
pub(crate) fn is_in_passing(seen: &Seen<'_>) -> bool {
    match seen.waits {
        Some(WaitKind::Lock) => seen.call.dur.or_zero() <= IN_PASSING.or_zero(),
        Some(_) => false,
        None => seen.fd.is_none() && seen.file.is_none(),
    }
}
