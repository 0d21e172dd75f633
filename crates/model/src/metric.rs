//! What is measured of the host and what is on it: one list for samplers and for the tables of all tools.

/// What a figure counts in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// 0 to 1 of the thing's own whole.
    Share,
    /// Seconds a second: 1 is one CPU, or one thread waiting all the time.
    SecondsPerSecond,
    /// Events a second.
    PerSecond,
    /// Bytes a second.
    BytesPerSecond,
    /// Bytes.
    Bytes,
    /// Nanoseconds.
    Nanos,
    /// A number of things.
    Count,
}

impl Unit {
    /// All of them.
    pub const ALL: [Unit; 7] = [
        Unit::Share,
        Unit::SecondsPerSecond,
        Unit::PerSecond,
        Unit::BytesPerSecond,
        Unit::Bytes,
        Unit::Nanos,
        Unit::Count,
    ];

    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Unit::Share => "share",
            Unit::SecondsPerSecond => "seconds_per_second",
            Unit::PerSecond => "per_second",
            Unit::BytesPerSecond => "bytes_per_second",
            Unit::Bytes => "bytes",
            Unit::Nanos => "ns",
            Unit::Count => "count",
        }
    }
}

macro_rules! metrics {
    ($($(#[doc = $doc:literal])+ $variant:ident $name:literal $unit:ident;)+) => {
        /// What is measured. A figure of a rate is over the table's time; a level is at its end.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(u8)]
        pub enum Metric { $($(#[doc = $doc])+ $variant,)+ }

        impl Metric {
            /// All of them.
            pub const ALL: &'static [Metric] = &[$(Metric::$variant,)+];

            /// The name in tables and JSON.
            pub fn name(self) -> &'static str {
                match self { $(Metric::$variant => $name,)+ }
            }

            /// What it is, in words.
            #[cfg(feature = "schema")]
            pub fn about(self) -> &'static str {
                match self { $(Metric::$variant => concat!($($doc),+).trim_ascii(),)+ }
            }

            /// What it counts in.
            pub fn unit(self) -> Unit {
                match self { $(Metric::$variant => Unit::$unit,)+ }
            }
        }
    };
}

metrics! {
    // CPU. Of the host and of a CPU: share of its time. Of tasks and control groups see `TaskUser` and others.
    /// Time in user mode (`us`), without nice.
    CpuUser "cpu_user" Share;
    /// Time in user mode at low priority (`ni`).
    CpuNice "cpu_nice" Share;
    /// Time in the kernel (`sy`), without interrupts.
    CpuSystem "cpu_system" Share;
    /// Idle with a request to a disk outstanding (`wa`): a hint only.
    CpuIowait "cpu_iowait" Share;
    /// In hardware interrupts (`hi`).
    CpuIrq "cpu_irq" Share;
    /// In soft interrupts (`si`).
    CpuSoftirq "cpu_softirq" Share;
    /// Taken by the hypervisor (`st`).
    CpuSteal "cpu_steal" Share;
    /// Running guests (also counted as user time by the kernel).
    CpuGuest "cpu_guest" Share;
    /// Idle (`id`).
    CpuIdle "cpu_idle" Share;
    /// CPUs that are online.
    CpuCount "cpu_count" Count;
    /// Load average over 1 minute: runnable and uninterruptible tasks.
    Load1 "load_1" Count;
    /// Load average over 5 minutes.
    Load5 "load_5" Count;
    /// Load average over 15 minutes.
    Load15 "load_15" Count;
    /// Tasks that run or could run (`r` of vmstat).
    Runnable "runnable" Count;
    /// Tasks in uninterruptible sleep (`b` of vmstat, state D).
    Uninterruptible "uninterruptible" Count;
    /// Tasks that are zombies.
    Zombies "zombies" Count;
    /// Tasks in all.
    Tasks "tasks" Count;
    /// Context switches.
    ContextSwitches "context_switches" PerSecond;
    /// Interrupts, of the host, a CPU or an interrupt line.
    Interrupts "interrupts" PerSecond;
    /// Processes and threads created.
    Forks "forks" PerSecond;
    /// Share of time in which at least one task waited for a CPU (PSI; of the host or a control group).
    PressureCpu "pressure_cpu" Share;
    /// Share of time in which at least one task waited for memory (PSI some).
    PressureMemory "pressure_memory" Share;
    /// Share of time in which all tasks waited for memory (PSI full).
    PressureMemoryFull "pressure_memory_full" Share;
    /// Share of time in which at least one task waited for a disk (PSI some).
    PressureIo "pressure_io" Share;
    /// Share of time in which all tasks waited for a disk (PSI full).
    PressureIoFull "pressure_io_full" Share;

    // Tasks: processes, threads, commands, control groups.
    /// CPU time in user mode.
    TaskUser "task_user" SecondsPerSecond;
    /// CPU time in the kernel.
    TaskSystem "task_system" SecondsPerSecond;
    /// CPU time where the source tells only the sum.
    TaskCpu "task_cpu" SecondsPerSecond;
    /// Time ready to run without a CPU (schedstat).
    RunDelay "run_delay" SecondsPerSecond;
    /// Time waiting for block I/O (taskstats).
    BlockDelay "block_delay" SecondsPerSecond;
    /// Time waiting for pages to be swapped in (taskstats).
    SwapDelay "swap_delay" SecondsPerSecond;
    /// Time in direct reclaim (taskstats).
    ReclaimDelay "reclaim_delay" SecondsPerSecond;
    /// Time waiting for pages that were just evicted (taskstats, thrashing).
    ThrashDelay "thrash_delay" SecondsPerSecond;
    /// Time in memory compaction (taskstats).
    CompactDelay "compact_delay" SecondsPerSecond;
    /// Switches because the task waited.
    VoluntarySwitches "voluntary_switches" PerSecond;
    /// Switches because the CPU was taken away.
    InvoluntarySwitches "involuntary_switches" PerSecond;
    /// Page faults without I/O.
    MinorFaults "minor_faults" PerSecond;
    /// Page faults with I/O.
    MajorFaults "major_faults" PerSecond;
    /// Bytes read from storage (of a device: read; of a task: caused to be read).
    ReadBytes "read_bytes" BytesPerSecond;
    /// Bytes written (of a device: written; of a task: dirtied or sent to storage).
    WriteBytes "write_bytes" BytesPerSecond;
    /// Bytes of dirty pages dropped before they were written (`kB_ccwr/s`).
    CancelledWriteBytes "cancelled_write_bytes" BytesPerSecond;
    /// Bytes moved by read calls, cached or not (`rchar`).
    ReadChars "read_chars" BytesPerSecond;
    /// Bytes moved by write calls (`wchar`).
    WriteChars "write_chars" BytesPerSecond;
    /// Resident memory.
    Rss "rss" Bytes;
    /// Virtual memory.
    Vsz "vsz" Bytes;
    /// Memory swapped out.
    Swapped "swapped" Bytes;
    /// Threads of a process; processes and threads of the host.
    Threads "threads" Count;
    /// Open descriptors.
    Fds "fds" Count;
    /// Limit of open descriptors (soft).
    FdLimit "fd_limit" Count;
    /// CPUs on which the task may run.
    CpusAllowed "cpus_allowed" Count;
    /// Nice value.
    Nice "nice" Count;
    /// Times that the kernel reported the task stuck in uninterruptible sleep (kernel/hung_task.c).
    HungReports "hung_reports" PerSecond;
    /// Time since it began, at the end of the table's time.
    Age "age" Nanos;

    // Memory of the host or a control group.
    /// All memory; of a control group its limit.
    MemTotal "mem_total" Bytes;
    /// Unused memory.
    MemFree "mem_free" Bytes;
    /// What can be had without swapping.
    MemAvailable "mem_available" Bytes;
    /// Memory in use; of a control group its charge.
    MemUsed "mem_used" Bytes;
    /// Block device buffers.
    MemBuffers "mem_buffers" Bytes;
    /// Page cache.
    MemCached "mem_cached" Bytes;
    /// Page cache on the active list.
    MemActiveFile "mem_active_file" Bytes;
    /// Pages to be written.
    MemDirty "mem_dirty" Bytes;
    /// Pages being written.
    MemWriteback "mem_writeback" Bytes;
    /// Above this dirty memory writers are made to wait.
    DirtyLimit "dirty_limit" Bytes;
    /// The same as a part of the memory that can be dirty (vm.dirty_ratio).
    DirtyRatio "dirty_ratio" Share;
    /// Above this dirty memory the kernel begins to write (vm.dirty_background_bytes).
    DirtyBackgroundLimit "dirty_background_limit" Bytes;
    /// The same as a part (vm.dirty_background_ratio).
    DirtyBackgroundRatio "dirty_background_ratio" Share;
    /// Swap space.
    SwapTotal "swap_total" Bytes;
    /// Unused swap space.
    SwapFree "swap_free" Bytes;
    /// Swapped in.
    SwapIn "swap_in" BytesPerSecond;
    /// Swapped out.
    SwapOut "swap_out" BytesPerSecond;
    /// Read in from disks (`bi`, `pgpgin`).
    PageIn "page_in" BytesPerSecond;
    /// Written out to disks (`bo`, `pgpgout`).
    PageOut "page_out" BytesPerSecond;
    /// Pages of files read again soon after they were evicted.
    Refaults "refaults" PerSecond;
    /// Pages looked at by tasks that wanted memory themselves.
    DirectScans "direct_scans" PerSecond;
    /// Pages looked at by the background reclaimer.
    KswapdScans "kswapd_scans" PerSecond;
    /// Allocations that had to reclaim directly.
    AllocStalls "alloc_stalls" PerSecond;
    /// Allocations that had to compact memory.
    CompactStalls "compact_stalls" PerSecond;
    /// Huge pages given at faults.
    ThpFaults "thp_faults" PerSecond;
    /// Faults that wanted a huge page and got none.
    ThpFallbacks "thp_fallbacks" PerSecond;
    /// Processes killed for want of memory.
    OomKills "oom_kills" PerSecond;
    /// Times that a control group was above memory.high.
    MemoryHighEvents "memory_high_events" PerSecond;
    /// Times that a control group reached its limit.
    MemoryMaxEvents "memory_max_events" PerSecond;
    /// memory.high of a control group.
    MemoryHigh "memory_high" Bytes;

    // Disks.
    /// Reads completed.
    Reads "reads" PerSecond;
    /// Writes completed.
    Writes "writes" PerSecond;
    /// Requests completed, where the source tells only the sum (`tps`).
    Requests "requests" PerSecond;
    /// Reads merged with others.
    ReadsMerged "reads_merged" PerSecond;
    /// Writes merged with others.
    WritesMerged "writes_merged" PerSecond;
    /// Flushes completed.
    Flushes "flushes" PerSecond;
    /// Mean size of a request.
    RequestSize "request_size" Bytes;
    /// Requests outstanding, mean (`aqu-sz`, `avgqu-sz`).
    QueueLength "queue_length" Count;
    /// Mean time of a read, queueing included (`r_await`).
    ReadLatency "read_latency" Nanos;
    /// Mean time of a write, queueing included (`w_await`).
    WriteLatency "write_latency" Nanos;
    /// Mean time of a request, queueing included (`await`); of a call or function, of one call.
    Latency "latency" Nanos;
    /// Mean time of a flush.
    FlushLatency "flush_latency" Nanos;
    /// Share of time with a request outstanding (`%util`): no verdict by itself where requests are served side by side.
    Utilisation "utilisation" Share;
    /// Read-ahead of a device.
    ReadAhead "read_ahead" Bytes;
    /// 1 where the kernel calls it rotating.
    Rotational "rotational" Count;
    /// Size of a file system.
    FsSize "fs_size" Bytes;
    /// Used part of a file system.
    FsUsed "fs_used" Bytes;
    /// Free inodes of a file system.
    InodesFree "inodes_free" Count;

    // Control groups.
    /// CPU quota, in CPUs.
    CpuQuota "cpu_quota" Count;
    /// Periods in which the group ran.
    CpuPeriods "cpu_periods" PerSecond;
    /// Periods in which it was throttled.
    ThrottledPeriods "throttled_periods" PerSecond;
    /// Time throttled, of all its CPUs.
    ThrottledTime "throttled_time" SecondsPerSecond;
    /// Limit of bytes read a second, over all devices that have one the smallest.
    IoReadLimit "io_read_limit" BytesPerSecond;
    /// Limit of bytes written a second.
    IoWriteLimit "io_write_limit" BytesPerSecond;
    /// Limit of operations a second.
    IoOpsLimit "io_ops_limit" PerSecond;

    // Network.
    /// Bytes received.
    RxBytes "rx_bytes" BytesPerSecond;
    /// Bytes sent.
    TxBytes "tx_bytes" BytesPerSecond;
    /// Packets received.
    RxPackets "rx_packets" PerSecond;
    /// Packets sent.
    TxPackets "tx_packets" PerSecond;
    /// Packets dropped on receipt.
    RxDrops "rx_drops" PerSecond;
    /// Packets dropped before sending.
    TxDrops "tx_drops" PerSecond;
    /// Damaged packets.
    NetErrors "net_errors" PerSecond;
    /// Speed of an interface.
    LinkSpeed "link_speed" BytesPerSecond;
    /// TCP segments sent.
    TcpSegmentsOut "tcp_segments_out" PerSecond;
    /// TCP segments sent again.
    TcpRetransmits "tcp_retransmits" PerSecond;
    /// Connection requests sent again.
    TcpSynRetransmits "tcp_syn_retransmits" PerSecond;
    /// Times that TCP gave up waiting for an acknowledgement.
    TcpTimeouts "tcp_timeouts" PerSecond;
    /// Connections refused for a full accept queue.
    ListenOverflows "listen_overflows" PerSecond;
    /// Connection requests dropped by listeners.
    ListenDrops "listen_drops" PerSecond;
    /// Times that a listener's queue of half-open connections was full: cookies were sent, or requests dropped.
    SynQueueOverflows "syn_queue_overflows" PerSecond;
    /// Times that a TCP connection was given up for want of memory (tcp_mem).
    TcpMemoryAborts "tcp_memory_aborts" PerSecond;
    /// Times that we told a peer that our window is full.
    ZeroWindowSent "zero_window_sent" PerSecond;
    /// Times that we had data and the peer's window was full.
    ZeroWindowSeen "zero_window_seen" PerSecond;
    /// Connections opened from here.
    TcpActiveOpens "tcp_active_opens" PerSecond;
    /// Connections accepted.
    TcpPassiveOpens "tcp_passive_opens" PerSecond;
    /// Attempts to connect that failed.
    TcpAttemptFails "tcp_attempt_fails" PerSecond;
    /// Resets sent.
    TcpResetsSent "tcp_resets_sent" PerSecond;
    /// Datagrams dropped for a full receive buffer.
    UdpReceiveErrors "udp_receive_errors" PerSecond;
    /// Memory of datagrams that wait to be read from a UDP socket, the kernel's own included.
    UdpReceiveQueue "udp_receive_queue" Bytes;
    /// Room for them (SO_RCVBUF, socket(7)).
    UdpReceiveBuffer "udp_receive_buffer" Bytes;
    /// Sockets, all states.
    Sockets "sockets" Count;
    /// TCP connections that are established.
    TcpEstablished "tcp_established" Count;
    /// TCP connections in TIME_WAIT.
    TcpTimeWait "tcp_time_wait" Count;
    /// TCP connections in CLOSE_WAIT.
    TcpCloseWait "tcp_close_wait" Count;
    /// TCP connections in SYN_SENT.
    TcpSynSent "tcp_syn_sent" Count;
    /// TCP connections in SYN_RECV.
    TcpSynRecv "tcp_syn_recv" Count;
    /// TCP sockets that listen.
    TcpListening "tcp_listening" Count;
    /// Bytes that wait to be read by programs.
    ReceiveQueue "receive_queue" Bytes;
    /// Samples of a queue that say whether work waited in it.
    QueueSamples "queue_samples" Count;
    /// Of these, those in which work waited.
    QueueWaited "queue_waited" Count;
    /// The most that waited in one of them: bytes, or connections.
    QueueMost "queue_most" Count;
    /// Bytes sent and not acknowledged, or not sent yet.
    SendQueue "send_queue" Bytes;
    /// Connections that wait to be accepted.
    Backlog "backlog" Count;
    /// Room for connections that wait to be accepted.
    BacklogLimit "backlog_limit" Count;
    /// Room for connections that wait to be accepted that a program gets at most (net.core.somaxconn).
    BacklogLimitMost "backlog_limit_most" Count;
    /// Half-open connections of a listener (net.ipv4.tcp_max_syn_backlog).
    SynBacklogLimit "syn_backlog_limit" Count;
    /// Ports that outgoing connections may use.
    EphemeralPorts "ephemeral_ports" Count;
    /// Ports of these in use, to the peer where the thing is one.
    EphemeralPortsUsed "ephemeral_ports_used" Count;
    /// Round-trip time.
    RoundTrip "round_trip" Nanos;
    /// Connections that the firewall tracks.
    Conntrack "conntrack" Count;
    /// Most that it can track.
    ConntrackLimit "conntrack_limit" Count;
    /// Packets dropped because it can track no more.
    ConntrackDrops "conntrack_drops" PerSecond;

    // Limits of the host.
    /// Open files of the host.
    FilesOpen "files_open" Count;
    /// Most open files.
    FilesLimit "files_limit" Count;
    /// Times that a limit of open files refused one: the process's own, or the host's.
    FileLimitHits "file_limit_hits" PerSecond;
    /// Most descriptors that the limit of a process may be set to (fs.nr_open).
    FdLimitMost "fd_limit_most" Count;
    /// Most processes and threads.
    PidLimit "pid_limit" Count;

    // Calls: of the host, a task, a file, a function.
    /// Calls or operations a second.
    Calls "calls" PerSecond;
    /// Calls or operations seen in all.
    CallCount "call_count" Count;
    /// Failed calls.
    CallErrors "call_errors" PerSecond;
    /// Failed calls, in all.
    CallErrorCount "call_error_count" Count;
    /// Time in calls.
    CallTime "call_time" SecondsPerSecond;
    /// Time in calls, in all.
    CallTotal "call_total" Nanos;
    /// The quickest call.
    CallMin "call_min" Nanos;
    /// The median call.
    CallP50 "call_p50" Nanos;
    /// 99 of 100 calls are quicker.
    CallP99 "call_p99" Nanos;
    /// The slowest call.
    CallMax "call_max" Nanos;
    /// Bytes read, in all.
    ReadTotal "read_total" Bytes;
    /// Bytes written, in all.
    WriteTotal "write_total" Bytes;
    /// Reads and writes that the page cache served.
    PageCacheHits "page_cache_hits" PerSecond;
    /// Reads and writes for which the page cache had to be filled.
    PageCacheMisses "page_cache_misses" PerSecond;
    /// Cycles of the CPU.
    Cycles "cycles" PerSecond;
    /// Instructions.
    Instructions "instructions" PerSecond;
    /// Cache misses.
    CacheMisses "cache_misses" PerSecond;
    /// Moves from one CPU to another.
    Migrations "migrations" PerSecond;
}

impl Metric {
    /// The one of that name.
    pub fn named(name: &str) -> Option<Metric> {
        Metric::ALL.iter().copied().find(|metric| metric.name() == name)
    }

    /// True for what is at a moment, not over a time.
    pub fn is_level(self) -> bool {
        matches!(self.unit(), Unit::Bytes | Unit::Count | Unit::Nanos)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_lead_back() {
        for metric in Metric::ALL {
            assert_eq!(Metric::named(metric.name()), Some(*metric), "{}", metric.name());
        }
    }
}
