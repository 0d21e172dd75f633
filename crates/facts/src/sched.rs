//! Time by the scheduler's account: on a CPU, runnable without one, blocked; and who woke whom.

use crate::{SLOW_CALL, WaitKind};
use hashbrown::HashMap;
use whyslow_model::event::Tid;
use whyslow_model::{Histogram, LeftAs, Nanos, SaturatingSum, Stretch, Timestamp, Wakeup};

/// Where one thread's time went. The three parts add up to the time that its stretches cover.
#[derive(Clone, Debug, Default)]
pub struct SchedTime {
    /// Stretches on a CPU.
    pub stretches: u64,
    /// On a CPU, ns.
    pub on_cpu_ns: u64,
    /// Able to run, but without a CPU, ns.
    pub runnable_ns: u64,
    /// Of that, because the CPU quota of its group was used up, as far as it was read, ns.
    pub throttled_ns: u64,
    /// Waiting, ns.
    pub blocked_ns: u64,
    /// Of the waiting, the part that no signal can end (disk, page faults, kernel locks), ns.
    pub uninterruptible_ns: u64,
    /// Times the CPU was taken from it.
    pub preempted: u64,
    /// The waits for a CPU.
    pub run_queue: Histogram,
    /// Time in short calls that could have waited but in which it never left the CPU to wait, by kind, ns: a write to a
    /// socket with room is work of the kernel.
    pub unblocked_ns: [u64; WaitKind::COUNT],
    first: Timestamp,
    last: Timestamp,
    left_as: Option<LeftAs>,
    /// When it last left a CPU to wait.
    left: Timestamp,
}

impl SchedTime {
    pub(crate) fn stretch(&mut self, stretch: &Stretch) {
        let (on_cpu, runnable) = (stretch.on_cpu.or_zero(), stretch.runnable.or_zero());
        let blocked = stretch.blocked.or_zero();
        self.stretches += 1;
        self.on_cpu_ns = self.on_cpu_ns.saturating_add(on_cpu);
        self.runnable_ns = self.runnable_ns.saturating_add(runnable);
        self.blocked_ns = self.blocked_ns.saturating_add(blocked);
        if self.left_as == Some(LeftAs::Uninterruptible) {
            self.uninterruptible_ns = self.uninterruptible_ns.saturating_add(blocked);
        }
        if stretch.runnable.is_known() {
            self.run_queue.record(runnable);
        }
        self.preempted += u64::from(stretch.left_as == LeftAs::Runnable);
        self.left_as = Some(stretch.left_as);
        if let Some(ts) = stretch.ts.get() {
            let begin = ts.saturating_sub(runnable).saturating_sub(blocked);
            let end = ts.saturating_add(on_cpu);
            self.first = Timestamp::new(self.first.get().map_or(begin, |first| first.min(begin)));
            self.last = Timestamp::new(self.last.get().map_or(end, |last| last.max(end)));
            if stretch.left_as != LeftAs::Runnable {
                self.left = Timestamp::new(end);
            }
        }
    }

    /// True for a short call from `ts` to now in which the thread did not leave the CPU to wait. A longer one must have
    /// waited, whatever became of the record of it.
    pub(crate) fn ran_through(&self, ts: Timestamp, dur: Nanos) -> bool {
        let left_before = self.left.get().zip(ts.get()).is_some_and(|(left, ts)| left < ts);
        left_before && dur < SLOW_CALL
    }

    /// The time from its last stretch to the recording's end: a thread that left the CPU to wait still waits then.
    pub(crate) fn finish(&mut self, end: Timestamp) {
        let Some(rest) = end.since(self.last).get() else { return };
        match self.left_as {
            Some(LeftAs::Sleeping | LeftAs::Stopped) => {
                self.blocked_ns = self.blocked_ns.saturating_add(rest)
            }
            Some(LeftAs::Uninterruptible) => {
                self.blocked_ns = self.blocked_ns.saturating_add(rest);
                self.uninterruptible_ns = self.uninterruptible_ns.saturating_add(rest);
            }
            Some(LeftAs::Runnable) => self.runnable_ns = self.runnable_ns.saturating_add(rest),
            Some(LeftAs::Dead | LeftAs::Other) | None => return,
        }
        self.last = end;
    }

    /// The time that is accounted for.
    pub fn covered(&self) -> Nanos {
        Nanos::new(self.on_cpu_ns.saturating_add(self.runnable_ns).saturating_add(self.blocked_ns))
    }

    /// From the first to the last moment seen; unknown for threads that were merged.
    pub fn wall(&self) -> Nanos {
        self.last.since(self.first)
    }

    /// When it is first known to be there.
    pub fn first(&self) -> Timestamp {
        self.first
    }

    /// Adds another thread's time; two lives do not add up to one wall time.
    pub fn merge(&mut self, other: &SchedTime) {
        self.stretches += other.stretches;
        self.on_cpu_ns = self.on_cpu_ns.saturating_add(other.on_cpu_ns);
        self.runnable_ns = self.runnable_ns.saturating_add(other.runnable_ns);
        self.throttled_ns = self.throttled_ns.saturating_add(other.throttled_ns);
        self.blocked_ns = self.blocked_ns.saturating_add(other.blocked_ns);
        self.uninterruptible_ns = self.uninterruptible_ns.saturating_add(other.uninterruptible_ns);
        self.preempted += other.preempted;
        self.run_queue.merge(&other.run_queue);
        self.first = Timestamp::UNKNOWN;
        self.last = Timestamp::UNKNOWN;
        self.left_as = None;
    }
}

/// The scheduler's account over all threads.
#[derive(Debug, Default)]
pub struct Sched {
    /// Stretches of all threads.
    pub stretches: u64,
    /// Time on a CPU by CPU, ns.
    on_cpu: Vec<u64>,
    wakes: HashMap<(Option<Tid>, Tid), u64, foldhash::fast::RandomState>,
    /// Wake-ups of pairs that are not told apart because there are too many.
    pub merged_wakes: u64,
}

impl Sched {
    /// Pairs of waker and wakee told apart.
    const MAX_PAIRS: usize = 32_768;
    /// CPUs told apart.
    const MAX_CPUS: usize = 4_096;

    pub(crate) fn stretch(&mut self, stretch: &Stretch) {
        self.stretches += 1;
        let cpu = usize::from(stretch.cpu).min(Self::MAX_CPUS - 1);
        if self.on_cpu.len() <= cpu {
            self.on_cpu.resize(cpu + 1, 0);
        }
        self.on_cpu[cpu] = self.on_cpu[cpu].saturating_add(stretch.on_cpu.or_zero());
    }

    #[inline]
    pub(crate) fn wakeup(&mut self, wakeup: &Wakeup) {
        if self.wakes.len() >= Self::MAX_PAIRS && !self.wakes.contains_key(&(wakeup.waker, wakeup.wakee)) {
            self.merge_rare();
        }
        *self.wakes.entry((wakeup.waker, wakeup.wakee)).or_default() += 1;
    }

    #[cold]
    fn merge_rare(&mut self) {
        let mut counts: Vec<u64> = self.wakes.values().copied().collect();
        counts.sort_unstable();
        let middle = counts.get(counts.len() / 2).copied().unwrap_or(0);
        self.merged_wakes +=
            self.wakes.extract_if(|_, count| *count <= middle).map(|(_, count)| count).sum::<u64>();
    }

    /// True where the recording shows the scheduler at work.
    pub fn is_known(&self) -> bool {
        self.stretches > 0
    }

    /// CPUs that the recorded threads ran on.
    pub fn cpus(&self) -> usize {
        self.on_cpu.iter().filter(|ns| **ns > 0).count()
    }

    /// Time that the recorded threads ran, on all CPUs.
    pub fn on_cpu(&self) -> Nanos {
        Nanos::new(self.on_cpu.iter().copied().saturating_sum())
    }

    /// Who woke `wakee`, the most frequent first; `None` stands for interrupts: devices, timers, the network.
    pub fn wakers_of(&self, wakee: Tid) -> Vec<(Option<Tid>, u64)> {
        let pairs = self.wakes.iter().filter(|((_, woken), _)| *woken == wakee);
        let mut wakers: Vec<_> = pairs.map(|((waker, _), count)| (*waker, *count)).collect();
        wakers.sort_by_key(|(waker, count)| (std::cmp::Reverse(*count), *waker));
        wakers
    }

    /// Wake-ups seen.
    pub fn wakeups(&self) -> u64 {
        self.merged_wakes + self.wakes.values().sum::<u64>()
    }
}

#[cfg(test)]
mod tests {
    use crate::Facts;
    use proptest::prelude::*;
    use whyslow_model::{
        Event, Exit, LeftAs, Nanos, Sink, SourceId, Stretch, Timestamp, WakeContext, Wakeup,
    };

    /// Stretches of one thread without gaps, of (on CPU, runnable, blocked or preempted).
    fn stretches(tid: u32, start: u64, parts: &[(u64, u64, Option<u64>)]) -> (Vec<Stretch>, u64) {
        let mut at = start;
        let made = parts.iter().enumerate().map(|(i, &(on_cpu, runnable, blocked))| {
            at += blocked.unwrap_or(0) + runnable;
            let ts = Timestamp::new(at);
            at += on_cpu;
            let next = parts.get(i + 1).map(|(.., blocked)| blocked.is_some());
            Stretch {
                ts,
                cpu: 0,
                pid: 1,
                tid,
                left_as: if next == Some(false) { LeftAs::Runnable } else { LeftAs::Sleeping },
                on_cpu: Nanos::new(on_cpu),
                runnable: Nanos::new(runnable),
                blocked: Nanos::new(blocked.unwrap_or(0)),
            }
        });
        let made: Vec<Stretch> = made.collect();
        (made, at)
    }

    proptest! {
        #[test]
        fn the_parts_add_up_to_the_wall_time(
            parts in prop::collection::vec((1u64..1_000_000, 0u64..1_000_000, prop::option::of(0u64..1_000_000)), 1..40),
            rest in 0u64..1_000_000,
        ) {
            let mut facts = Facts::default();
            let (made, end) = stretches(7, 5_000_000, &parts);
            for stretch in made {
                facts.push(Event::Stretch(stretch));
            }
            // The recording goes on while the thread sleeps.
            facts.window.see(Timestamp::new(end), Nanos::new(rest));
            facts.finish();
            let (_, thread) = facts.world.threads.iter().next().unwrap();
            let time = thread.sched.as_deref().unwrap();
            prop_assert_eq!(time.covered(), Nanos::new(end + rest - 5_000_000));
            prop_assert_eq!(time.wall(), time.covered());
            prop_assert_eq!(thread.wall(), time.covered());
            prop_assert_eq!(time.on_cpu_ns, parts.iter().map(|part| part.0).sum::<u64>());
        }

        #[test]
        fn what_is_lost_is_not_made_up(
            parts in prop::collection::vec((1u64..1_000_000, 0u64..1_000_000, prop::option::of(0u64..1_000_000)), 3..40),
            lost in 1usize..38,
        ) {
            let (mut made, end) = stretches(7, 5_000_000, &parts);
            made.remove(lost.min(made.len() - 2));
            let mut facts = Facts::default();
            for stretch in made {
                facts.push(Event::Stretch(stretch));
            }
            facts.finish();
            let (_, thread) = facts.world.threads.iter().next().unwrap();
            let time = thread.sched.as_deref().unwrap();
            prop_assert!(time.covered().or_zero() < end - 5_000_000);
            prop_assert_eq!(time.wall(), Nanos::new(end - 5_000_000));
        }
    }

    #[test]
    fn nothing_is_lost_where_ended_threads_are_merged() {
        let mut facts = Facts::default();
        let mut expected = 0;
        for tid in 2..6_000u32 {
            let (made, _) = stretches(tid, u64::from(tid) * 1_000, &[(300, 20, Some(100)), (50, 0, None)]);
            for stretch in made {
                expected += 1;
                facts.push(Event::Stretch(stretch));
            }
            facts.push(Event::Exit(Exit {
                source: SourceId(0),
                line: 0,
                tid,
                ts: Timestamp::new(u64::from(tid) * 1_000 + 470),
                status: Some(0),
                signal: None,
            }));
        }
        facts.finish();
        assert!(facts.world.threads.merged_threads > 0);
        let times = facts.world.threads.iter().filter_map(|(_, thread)| thread.sched.as_deref());
        let (stretches, on_cpu) =
            times.fold((0, 0), |(count, ns), time| (count + time.stretches, ns + time.on_cpu_ns));
        assert_eq!((stretches, on_cpu), (expected, expected / 2 * 350));
        assert_eq!(facts.sched.on_cpu(), Nanos::new(on_cpu));
    }

    #[test]
    fn wakers_are_bounded_and_none_is_lost() {
        let mut facts = Facts::default();
        for i in 0..100_000u32 {
            let waker = if i % 3 == 0 { Some(5) } else { Some(i) };
            let wakeup = Wakeup {
                ts: Timestamp::new(u64::from(i)),
                cpu: 0,
                waker,
                context: WakeContext::Task,
                wakee: 9,
            };
            facts.push(Event::Wakeup(wakeup));
        }
        assert_eq!(facts.sched.wakeups(), 100_000);
        assert_eq!(facts.sched.wakers_of(9)[0], (Some(5), 33_335));
    }
}
