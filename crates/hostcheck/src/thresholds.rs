//! From where on a resource of the host is saturated: one table, for the host check and for the rules that judge the same, so that
//! no finding contradicts the state of its resource. A rule may mention less in a notice.

/// One threshold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HostThreshold {
    /// What it is of.
    pub name: &'static str,
    /// Its value, in `unit`.
    pub value: f64,
    /// Of what: `of CPU time`, `ns`, `bytes/s`.
    pub unit: &'static str,
    /// Why this value.
    pub source: &'static str,
}

macro_rules! table {
    ($($(#[$doc:meta])* $id:ident = $value:expr, $unit:literal, $name:literal, $source:literal;)*) => {
        $($(#[$doc])* pub const $id: HostThreshold =
            HostThreshold { name: $name, value: $value, unit: $unit, source: $source };)*
        /// All of them.
        pub const TABLE: &[HostThreshold] = &[$($id),*];
    };
}

table! {
    /// With at least this idle (iowait is idle time) there is a CPU for whoever wants one.
    CPU_ROOM = 0.10, "of CPU time", "CPU idle", "of ten CPUs one is free; below, short bursts queue";
    /// A single CPU with less idle is busy all the time.
    CPU_FULL = 0.05, "of a CPU's time", "one CPU idle", "what a tick of 1/100 s and one sampling error leave";
    /// Tasks that wait for a CPU, for each CPU.
    CPU_QUEUE = 0.5, "tasks per CPU", "run queue", "one waiting task per two CPUs: work takes half as long again";
    /// Part of the time in which a task waits for a CPU (PSI cpu some).
    CPU_PRESSURE = 0.25, "of time", "PSI cpu some", "on a busy host short waits are normal";
    /// The same where no CPU is free.
    CPU_PRESSURE_FULL = 0.10, "of time", "PSI cpu some, no CPU idle", "who waits then waits for work to end";
    /// Part of all CPU time that the hypervisor gives to others. No saturation while CPUs idle.
    STEAL = 0.05, "of CPU time", "steal", "guard 1: what costs one part in twenty is worth a warning";
    /// Part of the periods in which a CPU quota stopped the group.
    THROTTLED = 0.05, "of periods", "throttled periods", "guard 1: what costs one part in twenty is worth a warning";
    /// CPUs' worth of time in which all that could run was stopped.
    STOPPED = 0.10, "CPUs", "throttled time", "a tenth of one CPU";
    /// Part of the time with a request under way, from which on a device is never idle.
    DISK_BUSY = 0.90, "of time", "disk utilisation", "below, idle moments serve whatever waits";
    /// Time of one request.
    DISK_SLOW = 5e6, "ns", "disk latency", "a seek and half a turn of a disk at 7,200/min take 5 to 10 ms; flash takes a tenth";
    /// Requests outstanding at a time.
    DISK_QUEUE = 2.0, "requests", "disk queue", "one is served, others wait";
    /// The same where the busy time is not known.
    DISK_LONG_QUEUE = 4.0, "requests", "disk queue, utilisation unknown", "twice what a busy disk has";
    /// Part of the time in which a task waits for a disk (PSI io some).
    DISK_PRESSURE = 0.05, "of time", "PSI io some", "guard 1: below, nobody waits for it";
    /// Part of the time in which a task waits for memory (PSI memory some).
    MEMORY_PRESSURE = 0.10, "of time", "PSI memory some", "every tenth moment somebody waits";
    /// Swapped in.
    SWAP_IN = 1_048_576.0, "bytes/s", "swap in", "256 pages per second, each a wait of a thread for a disk";
    /// Swapped out.
    SWAP_OUT = 10_485_760.0, "bytes/s", "swap out", "less is the kernel's tidying of pages unused for long";
    /// Allocations that stop to reclaim.
    RECLAIM_STALLS = 10.0, "per second", "allocation stalls", "fewer are the end of one burst";
    /// Pages of files read again soon after they were given up.
    REFAULTS = 2_000.0, "pages/s", "refaults", "at 100 us each on flash, 20 % of a thread";
    /// Memory that can be had without swapping.
    MEMORY_AVAILABLE = 0.10, "of memory", "available memory", "with more, memory is not short";
    /// Part of a link's speed.
    LINK_FULL = 0.90, "of the link's speed", "link utilisation", "with more, its queue grows";
    /// Part of TCP segments that is retransmitted.
    RETRANSMITS = 0.02, "of TCP segments", "TCP retransmits", "twice PCP's warning: every connection feels one in fifty";
    /// Part of packets dropped.
    DROPS = 0.001, "of packets", "dropped packets", "TCP halves its window at each loss: one in a thousand is felt at 1 ms round trips";
    /// Part of a limit in use.
    LIMIT_NEAR = 0.90, "of the limit", "limits in use", "a burst takes the rest";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_a_unit_and_a_source_and_one_name() {
        for (at, one) in TABLE.iter().enumerate() {
            assert!(one.value > 0.0 && !one.unit.is_empty() && one.source.len() > 10, "{}", one.name);
            assert!(!one.unit.starts_with("of") || one.value <= 1.0, "{} is a part of a whole", one.name);
            assert!(TABLE[..at].iter().all(|other| other.name != one.name), "{} stands twice", one.name);
        }
    }
}
