//! Sums of calls by thread, for a recording that keeps counts instead of single calls.

use crate::guards::{self, Share};
use whyslow_facts::{Facts, ThreadFacts};
use whyslow_model::{CallStats, Nanos, Syscall};

/// The calls of one thread, by syscall.
pub(crate) struct Sums<'a> {
    /// The thread.
    pub thread: &'a ThreadFacts,
    /// How long it was recorded, ns; more than 0.
    wall: u64,
}

/// Threads whose calls are sums; none where most calls were recorded one by one, as single calls say more.
pub(crate) fn by_thread(facts: &Facts) -> impl Iterator<Item = Sums<'_>> {
    let only_sums = facts.world.counted > facts.world.calls;
    let threads = facts.world.threads.iter().map(|(_, thread)| thread).filter(move |_| only_sums);
    threads.filter_map(|thread| {
        let scheduled = thread.sched.as_deref().and_then(|sched| sched.wall().get());
        let wall = scheduled.or_else(|| facts.window.whole().get()).filter(|ns| *ns > 0)?;
        Some(Sums { thread, wall })
    })
}

impl Sums<'_> {
    /// The calls of these kinds together.
    pub(crate) fn of(&self, syscalls: &[Syscall]) -> CallStats {
        let mut sum = CallStats::default();
        for (_, stats) in self.thread.all_calls().filter(|(syscall, _)| syscalls.contains(syscall)) {
            sum.merge(stats);
        }
        sum
    }

    /// A count a second.
    pub(crate) fn per_second(&self, count: u64) -> f64 {
        count as f64 / Nanos::new(self.wall).as_secs_f64().unwrap_or(f64::INFINITY)
    }

    /// The part that `total` has in the thread's time.
    pub(crate) fn share(&self, total: Nanos) -> Share {
        let part = total.get().map(|ns| (ns as f64 / self.wall as f64).min(1.0));
        Share::of_time(part, format!("wall time of thread {}", self.thread.tid))
    }
}

/// True where `share` is a cause by guard 1: sums show less than single calls do, so a smaller part is not mentioned.
pub(crate) fn is_cause(share: &Share) -> bool {
    share.value.is_some_and(|value| value >= guards::WARNING_SHARE)
}
