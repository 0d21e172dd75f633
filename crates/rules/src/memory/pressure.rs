//! How much want of memory costs by the host's figures: shared by the rules on swap, reclaim and the page cache.

use crate::gate::gated;
use crate::guards::passed;
use crate::guards::{Share, WARNING_SHARE};
use crate::{figures, kernel_threads};
use hashbrown::HashMap;
use whyslow_facts::exemplar::Exemplar;
use whyslow_facts::folds::account::ObjectKind;
use whyslow_facts::host::Thing;
use whyslow_facts::{Facts, ProcessId, ThreadId};
use whyslow_model::event::Tid;
use whyslow_model::syscall::Moves;
use whyslow_model::{Entity, Measurement, Metric};

/// What the want of memory costs a thing.
pub(super) struct Cost<'a> {
    /// The part of whose time.
    pub(super) share: Share,
    /// The program that waits most, where the kernel tells of each.
    pub(super) victim: Option<&'a Entity>,
    /// Which figure says so.
    pub(super) metric: Metric,
    /// Of what.
    pub(super) of: &'a Entity,
    /// Where a recording tells: the thread that waits, and the file for which it waits most.
    pub(super) reads: Option<(Tid, &'a str)>,
}

impl Cost<'_> {
    /// True where it is felt (guard 1).
    #[gated]
    pub(super) fn is_felt(&self) -> bool {
        self.share.value.is_some_and(|share| share >= WARNING_SHARE)
    }

    /// The part of the time, with the threshold where it is felt.
    pub(super) fn figure(&self) -> Measurement {
        passed(self.share.figure(), WARNING_SHARE)
    }
}

/// The largest cost: of the program that waits most for one of `delays`, or of the time that `of` (the host, a group)
/// stands still for memory. `None` where no source tells either.
#[gated]
pub(super) fn cost<'a>(facts: &'a Facts, of: &'a Entity, delays: &[Metric]) -> Option<Cost<'a>> {
    let mut costs: Vec<Cost<'a>> = Vec::new();
    let in_it = |thing: &Thing| match of {
        Entity::Cgroup(path) => figures::in_group(thing, path),
        _ => true,
    };
    for metric in delays {
        let waits = kernel_threads::programs_with(facts, *metric);
        let Some((delay, victim, thing)) = waits.into_iter().find(|(_, _, thing)| in_it(thing)) else {
            continue;
        };
        let threads = thing.current(Metric::Threads).unwrap_or(1.0).max(1.0);
        // Several threads wait at a time: as a part of the time of those that could.
        let value = if delay <= 1.0 { delay } else { (delay / threads).min(1.0) };
        let share = Share::of_time(value, format!("the time of {}", facts.host.name_of(victim)));
        costs.push(Cost { share, victim: Some(victim), metric: *metric, of: victim, reads: None });
    }
    // One of many tasks that waits is no stand-still: the time of all of them goes before the time of any.
    let told = |metric| Some((metric, facts.host.thing(of)?.current(metric)?));
    if let Some((metric, value)) = told(Metric::PressureMemoryFull).or_else(|| told(Metric::PressureMemory)) {
        let share = Share::of_time(value, format!("the time of {of}"));
        costs.push(Cost { share, victim: None, metric, of, reads: None });
    }
    costs.into_iter().max_by(|a, b| a.share.value.unwrap_or(0.0).total_cmp(&b.share.value.unwrap_or(0.0)))
}

/// From this part of its life on, what a process does is worth a word by itself, though it waits for work else.
const BUSY: f64 = 0.1;

/// The recorded process of a group that waits most in a way that no signal ends: for a disk, where what it reads was in memory
/// before. As a part of the time in which it works or waits so: what it waits for work costs nobody anything.
#[gated]
pub(super) fn disk_wait<'a>(facts: &'a Facts, of: &'a Entity) -> Option<Cost<'a>> {
    let Entity::Cgroup(path) = of else { return None };
    let mut waiters: HashMap<ProcessId, DiskWait<'a>> = HashMap::new();
    for (id, thread) in facts.world.threads.iter() {
        let pid = facts.world.threads.process(thread.process).pid;
        let named = pid.and_then(|pid| facts.host.entry(&Entity::Process(pid)));
        let Some((victim, _)) = named.filter(|(_, thing)| figures::in_group(thing, path)) else { continue };
        let Some(sched) = &thread.sched else { continue };
        let waits = sched.uninterruptible_ns;
        let row = waiters.entry(thread.process).or_insert(DiskWait::of(victim, id));
        row.busy_ns = row.busy_ns.saturating_add(sched.on_cpu_ns).saturating_add(waits);
        row.waits_ns = row.waits_ns.saturating_add(waits);
        row.life_ns = row.life_ns.max(thread.wall().or_zero());
        if waits > row.longest_ns {
            (row.longest_ns, row.thread) = (waits, id);
        }
    }
    let worst = waiters.into_values().filter(DiskWait::matters).max_by_key(|row| row.waits_ns)?;
    let part = worst.waits_ns as f64 / worst.busy_ns as f64;
    let share = Share::of_time(part, format!("the busy time of {}", facts.host.name_of(worst.victim)));
    let tid = facts.world.threads.thread(worst.thread).tid;
    let reads = awaited_file(facts, worst.thread).map(|file| (tid, file));
    Some(Cost { share, victim: Some(worst.victim), metric: Metric::ReadBytes, of: worst.victim, reads })
}

/// What a process waits for disks.
struct DiskWait<'a> {
    victim: &'a Entity,
    /// The thread of it that waits most.
    thread: ThreadId,
    longest_ns: u64,
    waits_ns: u64,
    busy_ns: u64,
    life_ns: u64,
}

impl DiskWait<'_> {
    fn of(victim: &Entity, thread: ThreadId) -> DiskWait<'_> {
        DiskWait { victim, thread, longest_ns: 0, waits_ns: 0, busy_ns: 0, life_ns: 0 }
    }

    /// False for a process that hardly does anything.
    #[gated]
    fn matters(&self) -> bool {
        let of_life = |ns: u64| ns as f64 / self.life_ns.max(1) as f64;
        self.busy_ns > 0 && (of_life(self.busy_ns) >= BUSY || of_life(self.waits_ns) >= WARNING_SHARE)
    }
}

/// The file for which a thread waits most in reads.
fn awaited_file(facts: &Facts, id: ThreadId) -> Option<&str> {
    let calls = facts.accounts.of(id)?.calls.iter();
    let waited = calls.filter_map(|row| {
        let object = facts.accounts.objects.get(row.key.object);
        let is_read = object.kind == ObjectKind::File && row.key.syscall.info().moves == Moves::Read;
        (is_read && !object.name().is_empty()).then(|| (row.parts.uninterruptible_ns, object.name()))
    });
    waited.max_by_key(|(ns, _)| *ns).map(|(_, name)| name)
}

/// What a thread's writes to files and its faults take: both are charged to its control group.
pub(super) struct Writing<'a> {
    /// The thread.
    pub(super) tid: Tid,
    /// The writes.
    pub(super) calls: u64,
    /// Their time in the kernel, working or waiting, and with it the waits of faults, ns.
    pub(super) ns: u64,
    waited_ns: u64,
    work_ns: u64,
    /// The write that took longest.
    pub(super) line: Option<&'a Exemplar>,
}

impl Writing<'_> {
    /// Of what the thread works, or waits for inside of the kernel.
    pub(super) fn part(&self) -> f64 {
        self.ns as f64 / self.work_ns.max(1) as f64
    }

    /// The part of that in which it waits when it writes.
    pub(super) fn waited_part(&self) -> f64 {
        self.waited_ns as f64 / self.work_ns.max(1) as f64
    }
}

/// The recorded thread of a group whose writing takes most.
#[gated]
pub(super) fn writing<'a>(facts: &'a Facts, group: &str) -> Option<Writing<'a>> {
    let threads = facts.world.threads.iter().filter_map(|(id, thread)| {
        let pid = facts.world.threads.process(thread.process).pid?;
        let (_, thing) = facts.host.entry(&Entity::Process(pid))?;
        let account = facts.accounts.of(id).filter(|account| account.tid == thread.tid)?;
        if !figures::in_group(thing, group) {
            return None;
        }
        let outside = account.outside;
        let mut writing = Writing {
            tid: thread.tid,
            calls: 0,
            ns: outside.uninterruptible_ns,
            waited_ns: outside.uninterruptible_ns,
            work_ns: outside.on_cpu_ns.saturating_add(outside.uninterruptible_ns),
            line: None,
        };
        for row in &account.calls {
            let took = row.parts.on_cpu_ns.saturating_add(row.parts.uninterruptible_ns);
            writing.work_ns = writing.work_ns.saturating_add(took);
            let object = facts.accounts.objects.get(row.key.object);
            if object.kind == ObjectKind::File && row.key.syscall.info().moves == Moves::Write {
                writing.ns = writing.ns.saturating_add(took);
                writing.waited_ns = writing.waited_ns.saturating_add(row.parts.uninterruptible_ns);
                writing.calls = writing.calls.saturating_add(row.calls.count);
                let longest = row.exemplars.iter().last();
                writing.line = match (writing.line, longest) {
                    (Some(known), Some(line)) if known.dur.or_zero() >= line.dur.or_zero() => Some(known),
                    (known, line) => line.or(known),
                };
            }
        }
        Some(writing).filter(|writing| writing.calls > 0)
    });
    threads.max_by_key(|writing| writing.ns)
}

/// The programs with the most of a figure, in a sentence; empty where no source tells.
pub(super) fn who(facts: &Facts, metric: Metric, verb: &str) -> String {
    let most = kernel_threads::programs_with(facts, metric);
    match most.is_empty() {
        true => String::new(),
        false => format!(" Most {verb}: {}.", figures::named(facts, &most, metric, None)),
    }
}

/// Of what a group or the host has, the part in use: of a group its charge of its limit, of the host what is not
/// available. A group without a limit has what the host has.
pub(super) fn fill(facts: &Facts, thing: &Thing) -> Option<f64> {
    fill_of(thing).or_else(|| fill_of(facts.host.host()?))
}

#[gated]
fn fill_of(thing: &Thing) -> Option<f64> {
    let total = thing.current(Metric::MemTotal).filter(|bytes| *bytes > 0.0)?;
    let used = thing.current(Metric::MemAvailable).map(|free| total - free);
    Some(used.or_else(|| thing.current(Metric::MemUsed))? / total)
}

/// The host and all control groups, the groups first: they say more exactly where it is.
pub(super) fn scopes(facts: &Facts) -> Vec<(&Entity, &Thing)> {
    let mut scopes = facts.host.things_that(|of| matches!(of, Entity::Cgroup(_) | Entity::Host));
    scopes.sort_by_key(|(of, _)| (matches!(of, Entity::Host), *of));
    scopes
}

/// `1.2 GB of 2.0 GB are in use`, with its figures; empty where it is unknown.
pub(super) fn in_use(thing: &Thing) -> (String, Vec<Measurement>) {
    let size = |name, metric| thing.current(metric).map(|bytes: f64| Measurement::bytes(name, bytes as u64));
    let total = size("memory_total", Metric::MemTotal);
    let free = size("memory_available", Metric::MemAvailable);
    match (total, free, size("memory_used", Metric::MemUsed)) {
        (Some(total), Some(free), _) => (format!(" {free} of {total} can still be had."), vec![free, total]),
        (Some(total), None, Some(used)) => (format!(" {used} of {total} are in use."), vec![used, total]),
        _ => (String::new(), Vec::new()),
    }
}
