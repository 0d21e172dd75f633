//! Who waits for a CPU by the host's figures, and how many CPUs it may use: shared by the rules on queues for them.

use crate::gate::gated;
use crate::guards::Share;
use crate::{figures, kernel_threads};
use whyslow_facts::Facts;
use whyslow_facts::host::Thing;
use whyslow_model::{Entity, Metric, Trait};

/// A process or thread with the time that it wanted a CPU.
pub(super) struct Waiter<'a> {
    /// Which.
    pub(super) of: &'a Entity,
    /// What is known of it.
    pub(super) thing: &'a Thing,
    /// Seconds a second on a CPU.
    pub(super) cpu: f64,
    /// Seconds a second ready to run without one, over all its threads.
    pub(super) delay: f64,
    /// CPUs that it may use at once: of the host, by its mask, by its group's quota.
    pub(super) room: f64,
}

/// Waiting from this part of its time on for the CPUs it is bound to: with less, a wider mask gains nothing that is felt.
pub(super) const PINNED_SHARE: f64 = 0.20;
/// CPUs' worth of idle time: with less there is nowhere to go. Half of one: of two CPUs the one that is not waited for does other
/// people's work too, and a thread that is moved there runs as often as it waits.
pub(super) const IDLE_CPUS: f64 = 0.5;
/// A nice value from which on work is meant to wait.
const BATCH_NICE: f64 = 10.0;

/// Tasks of `things` that are not the kernel's, not started just now and not meant to wait.
#[gated]
pub(super) fn waiters<'a>(facts: &'a Facts, things: Vec<(&'a Entity, &'a Thing)>) -> Vec<Waiter<'a>> {
    let programs = things.into_iter().filter(|(of, thing)| {
        let process = of.pid().map(Entity::Process);
        let owner = process.as_ref().and_then(|process| facts.host.thing(process)).unwrap_or(thing);
        let nice = thing.current(Metric::Nice).unwrap_or(0.0);
        !kernel_threads::is_kernel(of, owner) && !figures::just_started(owner) && nice < BATCH_NICE
    });
    let mut waiters: Vec<Waiter<'a>> = programs
        .filter_map(|(of, thing)| {
            let delay = thing.current(Metric::RunDelay)?;
            let cpu = figures::cpu(thing).unwrap_or(0.0);
            Some(Waiter { of, thing, cpu, delay, room: room(facts, thing) })
        })
        .collect();
    waiters.sort_by(|a, b| b.delay.total_cmp(&a.delay).then(a.of.cmp(b.of)));
    waiters
}

/// CPUs of the host; where no source says, at least one.
pub(super) fn host_cpus(facts: &Facts) -> f64 {
    let counted = || facts.host.things_that(|of| matches!(of, Entity::Cpu(_))).len() as f64;
    figures::of_host(facts, Metric::CpuCount).unwrap_or_else(counted).max(1.0)
}

/// CPUs' worth of time that is not used on the host; unknown where its CPUs are not told of.
pub(super) fn idle_cpus(facts: &Facts) -> Option<f64> {
    let idle = facts.host.host()?.sum_current(&[Metric::CpuIdle, Metric::CpuIowait])?;
    Some(idle * host_cpus(facts))
}

/// The part of a group's periods in which its quota stopped it.
pub(super) fn throttled(group: &Thing) -> Option<f64> {
    Some(group.part(Metric::ThrottledPeriods, Metric::CpuPeriods)?.min(1.0))
}

#[gated]
fn room(facts: &Facts, thing: &Thing) -> f64 {
    let group = thing.told(Trait::Cgroup).map(|path| Entity::Cgroup(path.into()));
    let quota = group.and_then(|group| facts.host.thing(&group)?.current(Metric::CpuQuota));
    let allowed = thing.current(Metric::CpusAllowed);
    [quota, allowed].into_iter().flatten().filter(|cpus| *cpus > 0.0).fold(host_cpus(facts), f64::min)
}

impl Waiter<'_> {
    /// Threads that wanted a CPU at a time, on average.
    pub(super) fn wanted(&self) -> f64 {
        self.cpu + self.delay
    }

    /// Of the time that its threads could run, the part without a CPU; of a task that seldom wants one, of its wall time.
    #[gated]
    pub(super) fn share(&self, facts: &Facts) -> Share {
        let name = facts.host.name_of(self.of);
        let of = match self.wanted() > 1.0 {
            true => format!("the time in which threads of {name} could run"),
            false => format!("the wall time of {name}"),
        };
        Share::of_time(self.delay / self.wanted().max(1.0), of)
    }

    /// True for one that waits for the CPUs it is bound to, though others are idle.
    #[gated]
    pub(super) fn is_pinned(&self, facts: &Facts) -> bool {
        let allowed = self.thing.current(Metric::CpusAllowed);
        allowed.is_some_and(|cpus| cpus < host_cpus(facts))
            && idle_cpus(facts).is_some_and(|idle| idle >= IDLE_CPUS)
            && self.share(facts).value.is_some_and(|share| share >= PINNED_SHARE)
    }

    /// The part of the periods in which the quota of its group stopped it.
    pub(super) fn stopped(&self, facts: &Facts) -> Option<f64> {
        let group = Entity::Cgroup(self.thing.told(Trait::Cgroup)?.into());
        throttled(facts.host.thing(&group)?)
    }

    /// Threads; one where no source says.
    pub(super) fn threads(&self) -> f64 {
        self.thing.current(Metric::Threads).unwrap_or(1.0).max(1.0)
    }

    /// True for work that waits for others each few milliseconds that it runs, as a server does for requests; false
    /// for what only computes, and where no source says.
    #[gated]
    pub(super) fn serves(&self) -> bool {
        /// Waits for each second on a CPU: one for ten milliseconds. A compiler or a simulation waits for files now and then.
        const WAITS_PER_CPU_S: f64 = 100.0;
        let waits = self.thing.current(Metric::VoluntarySwitches).unwrap_or(0.0);
        waits >= WAITS_PER_CPU_S * self.cpu.max(0.01)
    }
}
