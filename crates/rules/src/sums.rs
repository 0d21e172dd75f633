//! Sums of calls by thread, for a recording that keeps counts instead of single calls.

use crate::engine::Subjects;
use crate::gate::gated;
use crate::guards::{self, Share};
use crate::words;
use whyslow_facts::{Facts, ThreadFacts};
use whyslow_model::{CallStats, Measurement, Nanos, SaturatingSum, ShareOf, Subject, Syscall, Tid};

/// The calls of one thread, by syscall.
pub(crate) struct Sums<'a> {
    /// The thread.
    pub thread: &'a ThreadFacts,
    /// How long it was recorded, ns; more than 0.
    wall: u64,
}

/// The part that `total` has in the time of thread `tid`, by the scheduler; `None` where that is not known.
pub(crate) fn share_of(facts: &Facts, tid: Tid, total: Nanos) -> Option<Share> {
    let thread = facts.world.threads.thread_of(tid)?;
    let wall = wall_of(facts, thread)?;
    total.is_known().then(|| Sums { thread, wall }.share(total))
}

#[gated]
fn wall_of(facts: &Facts, thread: &ThreadFacts) -> Option<u64> {
    let scheduled = thread.sched.as_deref().and_then(|sched| sched.wall().get());
    scheduled.or_else(|| facts.window.whole().get()).filter(|ns| *ns > 0)
}

/// A thread that makes calls of one kind over and over, by the calls that were counted: those that wait are recorded one by one.
pub(crate) struct Storm<'a> {
    /// The thread's calls.
    pub sums: Sums<'a>,
    /// The call that was made most.
    pub name: &'static str,
    /// All calls of these kinds.
    pub calls: CallStats,
    /// How many a second.
    pub per_second: f64,
    /// Their part of the thread's time.
    pub share: Share,
    /// What that has to be.
    least: f64,
}

/// Threads that make `least` calls of these kinds a second and more, and spend a good part of their time in them; the
/// costliest first.
#[gated]
pub(crate) fn storms<'a>(facts: &'a Facts, kinds: &[&str], least: f64) -> Vec<Storm<'a>> {
    let mut found: Vec<Storm<'a>> = by_thread(facts).filter_map(|sums| storm(sums, kinds, least)).collect();
    found.sort_by_key(|storm| std::cmp::Reverse((storm.calls.total_ns, storm.calls.count)));
    found
}

#[gated]
fn storm<'a>(sums: Sums<'a>, kinds: &[&str], least: f64) -> Option<Storm<'a>> {
    let mut calls = CallStats::default();
    let mut most = (0, "");
    // Where no call was recorded one by one, there is one table.
    let counted = sums.thread.counted.as_deref().unwrap_or(&sums.thread.by_syscall);
    for (syscall, stats) in counted.iter() {
        let name = syscall.info().name;
        if kinds.contains(&name) {
            calls.merge(stats);
            most = most.max((stats.count, name));
        }
    }
    let (per_second, share) = (sums.per_second(calls.count), sums.share(calls.total()));
    let is_storm = calls.count >= guards::FEW_CALLS && per_second >= least && is_cause(&share);
    is_storm.then_some(Storm { sums, name: most.1, calls, per_second, share, least })
}

impl Storm<'_> {
    /// Their part of the calls that the thread makes.
    pub(crate) fn of_calls(&self) -> f64 {
        let all = self.sums.thread.all_calls().map(|(_, stats)| stats.count).saturating_sum();
        self.calls.count as f64 / all.max(1) as f64
    }

    /// How many calls of these kinds the thread makes, slow ones too.
    #[gated]
    pub(crate) fn others(&self, kinds: &[&str]) -> u64 {
        let of = self.sums.thread.all_calls().filter(|(syscall, _)| kinds.contains(&syscall.info().name));
        of.map(|(_, stats)| stats.count).saturating_sum()
    }

    /// `380,663 times, 190,331 per second`.
    pub(crate) fn often(&self) -> String {
        let count = Measurement::count("calls", self.calls.count);
        let rate = Measurement::per_second("calls_per_second", self.per_second);
        format!("{count} times, {rate} per second")
    }

    /// What it was found by.
    pub(crate) fn figures(&self) -> [Measurement; 4] {
        [
            Measurement::count("calls", self.calls.count).at_least(guards::FEW_CALLS as f64),
            Measurement::per_second("calls_per_second", self.per_second).at_least(self.least),
            Measurement::time("time", self.calls.total()),
            self.share.figure().at_least(guards::WARNING_SHARE),
        ]
    }

    /// The thread that makes them.
    pub(crate) fn subject(&self, facts: &Facts) -> Subject {
        Subject { syscall: Some(self.name.to_string()), ..Subjects::thread(facts, self.sums.thread.tid) }
    }

    /// A line of evidence: its place and its text.
    #[gated]
    pub(crate) fn line(&self, facts: &Facts) -> (String, String) {
        let CallStats { count, errors, .. } = self.calls;
        let (tid, total) = (self.sums.thread.tid, self.calls.total());
        let failed = if errors > 0 { format!(", {} failed", words::count(errors)) } else { String::new() };
        let text = format!("thread {tid}: {} {} in {total}{failed}", words::count(count), self.name);
        (facts.capture.first_name().to_string(), text)
    }
}

/// Threads whose calls are sums; none where most calls were recorded one by one, as single calls say more.
#[gated]
pub(crate) fn by_thread(facts: &Facts) -> impl Iterator<Item = Sums<'_>> {
    let only_sums = facts.mostly_counted();
    let threads = facts.world.threads.iter().map(|(_, thread)| thread).filter(move |_| only_sums);
    threads.filter_map(|thread| {
        let wall = wall_of(facts, thread)?;
        Some(Sums { thread, wall })
    })
}

impl Sums<'_> {
    /// The calls of these kinds together.
    #[gated]
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
        Share::of_time(part, ShareOf::wall_time_of(self.thread.tid))
    }
}

/// True where `share` is a cause by guard 1: sums show less than single calls do, so a smaller part is not mentioned.
#[gated]
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
