//! Threads that wait in certain functions of the kernel, as the stacks of their waits tell.

use crate::callers;
use crate::engine::Subjects;
use crate::gate::gated;
use crate::guards::{Share, WARNING_SHARE};
use whyslow_facts::samples::{Site, SiteTime, Weight};
use whyslow_facts::{Facts, ProcessId};
use whyslow_model::event::Tid;
use whyslow_model::{Nanos, SampleKind, SaturatingSum, ShareOf, Subject};

/// Fewer waits are a start, or one bad moment.
pub(crate) const MIN_WAITS: u64 = 5;

/// Functions of the kernel that take the lock of a memory map themselves: who sleeps in one of them, and in nothing that it calls but the
/// lock, waits for it (mm/mmap.c, mm/util.c, mm/mprotect.c, mm/madvise.c, mm/mremap.c, mm/memory.c, mm/mmap_lock.c; arch/x86/mm/fault.c of kernels before 6.4).
const TAKES_MAP: &[&str] = &[
    "vm_mmap_pgoff",
    "__vm_munmap",
    "__x64_sys_munmap",
    "__do_sys_munmap",
    "do_mprotect_pkey",
    "do_madvise",
    "madvise_lock",
    "__do_sys_mremap",
    "__se_sys_mremap",
    "do_mremap",
    "__do_sys_brk",
    "__x64_sys_brk",
    "__mm_populate",
    "lock_mm_and_find_vma",
    "mmap_read_lock",
    "mmap_write_lock",
    "mmap_lock_acquire",
    "__vma_start_write",
    "vma_start_write",
    "lock_vma_under_rcu",
    "do_user_addr_fault",
    "__do_page_fault",
    "__mmap_lock_do_trace",
];
/// Calls that change a memory map.
pub(crate) const CHANGES_MAP: &[&str] =
    &["mmap", "mmap2", "munmap", "mremap", "mprotect", "pkey_mprotect", "madvise", "brk"];

/// The thread that spends most time in such functions, of those to which it is worth a word.
pub(crate) struct KernelWait<'f> {
    /// The thread.
    pub(crate) tid: Tid,
    /// How long it was there. Not each wait's stack is recorded, so it is rather more.
    pub(crate) time: Nanos,
    /// Waits and samples whose stack is known.
    pub(crate) waits: u64,
    /// Of the thread's life.
    pub(crate) share: Share,
    /// Threads that wait there.
    pub(crate) threads: u64,
    /// Where in the program's own code.
    pub(crate) site: Option<Site<'f>>,
    facts: &'f Facts,
}

impl KernelWait<'_> {
    /// The thread, with its function where that is known.
    pub(crate) fn subject(&self) -> Subject {
        Subject { function: callers::function(self.site.as_ref()), ..Subjects::thread(self.facts, self.tid) }
    }

    /// `thread 12 app waits`, or `4 threads of app wait`.
    pub(crate) fn who(&self) -> String {
        let one = Subjects::thread(self.facts, self.tid);
        match (self.threads, one.comm.as_deref()) {
            (1, _) | (_, None) => format!("{} waits", Subjects::words(&one)),
            (threads, Some(name)) => format!("{threads} threads of {name} wait"),
        }
    }

    /// `, in save (store.c:88)`.
    pub(crate) fn at(&self) -> String {
        callers::words(self.site.as_ref())
    }
}

/// Who spends most time in one of these functions, waiting or (`on_cpu`) working there, for a good part of its life, with the place of the
/// `wanted` waits; `None` too where no stacks of waits are recorded.
pub(crate) fn longest<'f>(
    facts: &'f Facts,
    functions: &[&str],
    on_cpu: bool,
    wanted: impl Fn(&SiteTime<'_>) -> bool,
) -> Option<KernelWait<'f>> {
    every(facts, WARNING_SHARE, in_functions(facts, functions, on_cpu), wanted).into_iter().next()
}

/// The time that a process or a thread of it waits in one of these functions, or (`on_cpu`) works there.
pub(crate) fn in_functions(
    facts: &Facts,
    functions: &[&str],
    on_cpu: bool,
) -> impl Fn(ProcessId, Option<Tid>) -> Weight {
    let is_wanted = |name: &str| functions.iter().any(|function| name.starts_with(function));
    let kinds = if on_cpu { &[SampleKind::OffCpu, SampleKind::OnCpu][..] } else { &[SampleKind::OffCpu] };
    move |process, tid| {
        let of = |kind: &SampleKind| facts.samples.in_kernel(*kind, process, tid, is_wanted);
        kinds.iter().map(of).fold(Weight::default(), |sum, weight| Weight {
            ns: sum.ns.saturating_add(weight.ns),
            count: sum.count.saturating_add(weight.count),
        })
    }
}

/// All threads that wait for the lock of their memory map for the part `least` of their lives, the longest first.
pub(crate) fn for_map(facts: &Facts, least: f64) -> Vec<KernelWait<'_>> {
    let spent = |process: ProcessId, tid: Option<Tid>| {
        facts.samples.waits_at(process, tid, |name| TAKES_MAP.contains(&name))
    };
    every(facts, least, spent, |time| time.call.is_none_or(|call| CHANGES_MAP.contains(&call)))
}

/// What a thread spends so, or all threads of a process together.
struct Spent {
    weight: Weight,
    /// How long it was recorded, ns.
    life: u64,
    /// The thread; of several the one with most of it.
    tid: Tid,
    /// How many threads that is.
    threads: u64,
    is_together: bool,
}

impl Spent {
    fn part(&self) -> f64 {
        self.weight.ns as f64 / self.life.max(1) as f64
    }
}

/// All threads that spend such time (`spent`), for the part `least` of their lives, the longest first; none where no stacks of waits are recorded.
#[gated]
pub(crate) fn every<'f>(
    facts: &'f Facts,
    least: f64,
    spent: impl Fn(ProcessId, Option<Tid>) -> Weight,
    wanted: impl Fn(&SiteTime<'_>) -> bool,
) -> Vec<KernelWait<'f>> {
    if facts.samples.is_empty(SampleKind::OffCpu) {
        return Vec::new();
    }
    let mut found: Vec<Spent> = Vec::new();
    let of_go = facts.parked.pids();
    for (id, process) in facts.world.threads.processes() {
        // One sum over a process is cheaper than one for each of its threads.
        let all = spent(id, None);
        if process.threads == 0 || all.ns == 0 {
            continue;
        }
        let of_threads = facts.world.threads.iter().map(|(_, thread)| thread);
        let of_threads = of_threads.filter(|thread| thread.process == id).map(|thread| {
            let life = thread.sched.as_deref().map_or(0, |time| time.covered().or_zero());
            let weight = spent(id, Some(thread.tid));
            Spent { weight, life, tid: thread.tid, threads: 1, is_together: false }
        });
        let mut of_threads: Vec<Spent> = of_threads.collect();
        // Work of Go moves from thread to thread: all of them together are one.
        if process.pid.is_some_and(|pid| of_go.contains(&pid)) {
            let life = of_threads.iter().map(|one| one.life).max().unwrap_or(0);
            let most = of_threads.iter().max_by_key(|one| (one.weight.ns, std::cmp::Reverse(one.tid)));
            let tid = most.map_or(0, |one| one.tid);
            let threads = of_threads.iter().filter(|one| one.weight.ns > 0).count() as u64;
            of_threads = vec![Spent { weight: all, life, tid, threads, is_together: true }];
        }
        found.extend(
            of_threads
                .into_iter()
                .filter(|one| one.life > 0 && one.weight.count >= MIN_WAITS && one.part() >= least),
        );
    }
    let threads = found.iter().map(|one| one.threads).saturating_sum();
    found.sort_by_key(|one| (std::cmp::Reverse(one.weight.ns), one.tid));
    let waits = found.into_iter().filter_map(|one| {
        let tid = one.tid;
        let process = facts.process_of_thread(tid)?;
        let of = Some(tid).filter(|_| !one.is_together);
        let site = facts.samples.own_site(SampleKind::OffCpu, process, of, &wanted);
        let share = match one.is_together {
            true => {
                Share::of_time(one.part().min(1.0), "the recorded time, of all threads together".to_string())
            }
            false => Share::of_time(one.part().min(1.0), ShareOf::life_of(tid)),
        };
        Some(KernelWait {
            tid,
            time: Nanos::new(one.weight.ns),
            waits: one.weight.count,
            share,
            threads,
            site: site.map(|(site, _)| site),
            facts,
        })
    });
    waits.collect()
}
