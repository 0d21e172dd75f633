//! Kernel threads: which tasks are some, and what each kind of them does.

use crate::figures;
use crate::gate::gated;
use whyslow_facts::host::Thing;
use whyslow_facts::{Facts, ProcessId};
use whyslow_model::{Entity, Metric, Trait};

/// A kind of kernel threads.
pub(crate) struct Kind {
    /// How their names begin; after a `*`, what stands in them.
    names: &'static [&'static str],
    /// What they do.
    pub(crate) does: &'static str,
    /// What to look at.
    pub(crate) look: &'static str,
    /// True where somebody asked for that work: it serves clients, guests, or an administrator's command.
    pub(crate) wanted: bool,
}

const fn kind(names: &'static [&'static str], does: &'static str, look: &'static str, wanted: bool) -> Kind {
    Kind { names, does, look, wanted }
}

/// The kinds, the more specific names first (kernel: the names given to kthread_create and alloc_workqueue).
static KINDS: &[Kind] = &[
    kind(
        &["kswapd"],
        "they free memory in the background",
        "memory is short: vmstat 1 (si, so), cat /proc/pressure/memory; give the largest process less to keep, or the host more memory",
        false,
    ),
    kind(
        &["kcompactd", "khugepaged"],
        "they move pages to make room for huge ones",
        "cat /sys/kernel/mm/transparent_hugepage/defrag; set it to madvise",
        false,
    ),
    kind(
        &["ksoftirqd"],
        "they take packets and other soft interrupts that came faster than they could be served",
        "sar -n DEV 1 (packets per second), mpstat -I SCPU 1; spread them: RSS, RPS, larger packets (GRO, MTU)",
        false,
    ),
    kind(
        &["irq/"],
        "they serve a device's interrupts",
        "cat /proc/interrupts twice; coalesce them: ethtool -C",
        false,
    ),
    kind(
        &["jbd2/", "xfsaild", "xfs-", "xfs_", "btrfs-", "kjournald"],
        "they write a file system's journal and its metadata",
        "fewer fsync, renames and small files (see the findings about files); bcc: syncsnoop, ext4slower",
        false,
    ),
    kind(
        &["*_raid", "*_resync"],
        "they check or rebuild a RAID",
        "cat /proc/mdstat; limit it: sysctl dev.raid.speed_limit_max",
        true,
    ),
    kind(
        &["kcryptd", "dmcrypt"],
        "they encrypt and decrypt a disk",
        "cryptsetup benchmark; see whether the CPU's AES instructions are used (grep -c aes /proc/cpuinfo)",
        true,
    ),
    kind(
        &["nfsd", "lockd", "ksmbd", "iscsi", "vhost-", "z_wr_", "z_rd_", "txg_sync"],
        "they do the work of clients, guests or file systems",
        "see who asks for it",
        true,
    ),
    kind(
        &["kworker/"],
        "they do what parts of the kernel put off: write-back, drivers, timers",
        "perf record -a -g -e cpu-clock sleep 5, then perf report --comm kworker: the functions name the part; echo 1 > /sys/kernel/tracing/events/workqueue/workqueue_execute_start/enable",
        false,
    ),
    kind(
        &[
            "rcu",
            "kthreadd",
            "migration/",
            "cpuhp/",
            "kauditd",
            "ksmd",
            "oom_reaper",
            "kdevtmpfs",
            "khungtaskd",
            "watchdog/",
            "scsi_",
            "idle_inject/",
            "stopper/",
        ],
        "they keep the kernel's house",
        "perf record -a -g -e cpu-clock sleep 5: the functions say what for",
        false,
    ),
];

/// The kind by a thread's name.
pub(crate) fn kind_of(name: &str) -> Option<&'static Kind> {
    let name = name.trim_start_matches('[').trim_end_matches(']');
    let is = |name: &str, part: &str| match part.strip_prefix('*') {
        Some(within) => name.contains(within),
        None => name.starts_with(part),
    };
    KINDS.iter().find(|kind| kind.names.iter().any(|part| is(name, part)))
}

/// True for a thread of the kernel, as far as its source tells: it has no memory of its own, and its parent is
/// kthreadd; where neither is known, its name.
#[gated]
pub(crate) fn is_kernel(of: &Entity, thing: &Thing) -> bool {
    if [Metric::Rss, Metric::Vsz].iter().any(|metric| thing.mean(*metric).is_some_and(|bytes| bytes > 0.0)) {
        return false;
    }
    /// The number of kthreadd.
    const KTHREADD: &str = "2";
    let name = thing.told(Trait::Name).unwrap_or_else(|| of.name());
    let bracketed = thing.told(Trait::Command).is_some_and(|command| command.starts_with('['));
    match thing.told(Trait::Parent) {
        Some(parent) => parent == KTHREADD || name == "kthreadd",
        None => bracketed || kind_of(name).is_some(),
    }
}

/// True for a recorded process that is a thread of the kernel, by the host's figures.
pub(crate) fn is_kernels(facts: &Facts, process: ProcessId) -> bool {
    let of = facts.world.threads.process(process).pid.map(Entity::Process);
    of.is_some_and(|of| facts.host.thing(&of).is_some_and(|thing| is_kernel(&of, thing)))
}

/// Processes that are not of the kernel, with a figure.
#[gated]
pub(crate) fn programs_with(facts: &Facts, metric: Metric) -> Vec<(f64, &Entity, &Thing)> {
    let all = figures::most(facts, |thing| thing.current(metric));
    all.into_iter().filter(|(_, of, thing)| !is_kernel(of, thing)).collect()
}

#[cfg(test)]
mod tests {
    use super::kind_of;

    #[test]
    fn names_are_told_apart() {
        for name in ["kswapd0", "kworker/u8:3-flush-253:0", "ksoftirqd/1", "[jbd2/vda1-8]", "md127_raid1"] {
            assert!(kind_of(name).is_some(), "{name}");
        }
        for name in ["mdadm", "md5sum", "nginx", "redis-server", "x-kworker"] {
            assert!(kind_of(name).is_none(), "{name}");
        }
        assert!(kind_of("vhost-812").is_some_and(|kind| kind.wanted));
    }
}
