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

#[cfg(test)]
mod tests {
    use super::by_thread;
    use whyslow_facts::Facts;
    use whyslow_model::{
        Call, CallStats, Coverage, Event, Nanos, RecordedSpan, Sink, Syscall, ThreadCounts, Timestamp,
    };

    fn counted(calls: u64) -> Facts {
        let mut stats = CallStats::default();
        (0..calls).for_each(|i| stats.record(Nanos::from_millis(5), i < 2, 0));
        let (from, to) = (Timestamp::new(0), Timestamp::new(2_000_000_000));
        let mut facts = Facts::default();
        facts.push(Event::Span(RecordedSpan { from, to, calls: Coverage::Counts }));
        facts.push(Event::ThreadCounts(Box::new(ThreadCounts {
            pid: 7,
            tid: 8,
            syscall: Syscall::READ,
            name: "read".to_string(),
            from,
            to,
            stats,
        })));
        facts
    }

    #[test]
    fn sums_are_shares_and_rates_of_the_recorded_time() {
        let mut facts = counted(100);
        facts.finish();
        let all: Vec<_> = by_thread(&facts).filter(|sums| sums.thread.tid == 8).collect();
        let [sums] = all.as_slice() else { panic!("one thread: {}", all.len()) };
        let reads = sums.of(&[Syscall::READ, Syscall::READV]);
        assert_eq!((reads.count, reads.errors, sums.of(&[Syscall::LSEEK]).count), (100, 2, 0));
        assert_eq!(sums.share(reads.total()).value, Some(0.25));
        assert_eq!((sums.per_second(reads.count), sums.share(Nanos::UNKNOWN).value), (50.0, None));
    }

    #[test]
    fn single_calls_say_more_than_sums() {
        let mut facts = counted(2);
        for at in 0..5 {
            facts.push(Event::Call(&Call {
                tid: 8,
                ts: Timestamp::new(at * 1_000_000),
                ..Call::new("read", "3")
            }));
        }
        facts.finish();
        assert_eq!(by_thread(&facts).count(), 0);
    }
}
