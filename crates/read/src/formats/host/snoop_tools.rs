//! Which tools print a line an event under a header: the columns by which each is known, and what its lines are made into.
//! A table of none of them is known by its shape.

use super::snoop_row::Cell;
use whyslow_model::NetKind;

/// What an event of a tool is made into.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Make {
    /// Calls of one name, by process, and the file that they are of.
    Calls(&'static str),
    /// The same, so many a line as its count says.
    Counted(&'static str),
    /// Opens, or stats where no descriptor is ever shown.
    OpenOrStat,
    /// The call that the line names, by process.
    Named,
    /// Files with what was read and written in an interval.
    FileBytes,
    /// Processes with what they read from and wrote to a disk in an interval.
    DiskBytes,
    /// Hits and misses of the page cache, by process.
    PageCache,
    /// A request to a disk.
    Block,
    /// An event of a TCP connection.
    Net(NetKind),
    /// Peers with what was received from and sent to them in an interval.
    NetBytes,
    /// A program that was started.
    Exec,
    /// Nothing: what the lines are of, which no rule judges.
    Seen(&'static str),
}

impl Make {
    /// What so many lines of the tool gave, for the note about the source.
    pub(super) fn says(self) -> String {
        match self {
            Make::Calls(name) | Make::Counted(name) => format!("lines counted as `{name}` by process"),
            Make::OpenOrStat => "lines counted as open or stat by process and file".into(),
            Make::Named => "lines counted by call and process".into(),
            Make::FileBytes => "lines of files with what was read and written".into(),
            Make::DiskBytes => "lines of processes with what they read from and wrote to disks".into(),
            Make::PageCache => "lines of processes with hits and misses of the page cache".into(),
            Make::Block => "requests to disks".into(),
            Make::Net(_) => "events of TCP connections".into(),
            Make::NetBytes => "lines of connections with what was received and sent".into(),
            Make::Exec => "programs that were started".into(),
            Make::Seen(what) => format!("lines of {what}, which no rule judges"),
        }
    }
}

/// The tools: the columns by which a header is known, the most telling first, and what its lines are.
pub(super) static SNOOPS: &[(&[&str], &str, Make)] = &[
    (&["R_Kb", "W_Kb", "FILE"], "filetop", Make::FileBytes),
    (&["R_Kb", "W_Kb", "PATH"], "dirtop", Make::FileBytes),
    (&["DISK", "AVGms"], "biotop", Make::DiskBytes),
    (&["DISK", "PID", "LAT(ms)"], "biosnoop", Make::Block),
    (&["COMM", "PID", "DEV", "BLOCK", "LATms"], "iosnoop", Make::Block),
    (&["HITS", "MISSES", "PID"], "cachetop", Make::PageCache),
    (&["LADDR", "RADDR", "MS"], "tcplife", Make::Net(NetKind::Closed)),
    (&["DADDR", "LAT(ms)"], "tcpconnlat", Make::Net(NetKind::Connected)),
    (&["LADDR:LPORT", "RADDR:RPORT", "RETRANSMITS"], "tcpretrans", Make::Counted("TCP retransmit")),
    (&["LADDR:LPORT", "RADDR:RPORT"], "tcpretrans", Make::Net(NetKind::Retransmit)),
    (&["LADDR", "RADDR", "CONNECTS"], "tcpconnect", Make::Counted("connect")),
    (&["LADDR", "LPORT", "BINDS"], "bindsnoop", Make::Counted("bind")),
    (
        &["T", "PID", "COMM", "SADDR", "DADDR"],
        "tcptracer",
        Make::Seen("connections that were opened and closed"),
    ),
    (&["DADDR", "DPORT", "COMM"], "tcpconnect", Make::Calls("connect")),
    (&["PID", "LADDR", "RADDR", "RX_KB", "TX_KB"], "tcptop", Make::NetBytes),
    (&["PID", "COMM", "RADDR", "LADDR", "LPORT"], "tcpaccept", Make::Calls("accept")),
    (&["LAT(ms)", "FILENAME"], "fileslower", Make::Calls("slow file I/O")),
    (&["LATENCY_us", "FILE"], "fileslower", Make::Calls("slow file I/O")),
    (&["LATms", "HOST"], "gethostlatency", Make::Calls("getaddrinfo")),
    (&["MS", "QUERY"], "dbslower", Make::Calls("query")),
    (&["COMM", "PID", "LAT(us)", "FUNC"], "funcslower", Make::Named),
    (&["TID", "COMM", "LAT(us)", "RET", "FUNC"], "sslsnoop", Make::Named),
    (&["TIME", "COMM", "LAT(us)"], "runqslower", Make::Calls("run queue")),
    (&["TIME(s)", "COMM", "CALL"], "syncsnoop", Make::Named),
    (&["TIME(s)", "CALL"], "syncsnoop", Make::Named),
    (&["TIME", "PID", "COMM", "EVENT"], "syncsnoop", Make::Named),
    (&["PID", "FD", "ERR", "PATH"], "opensnoop", Make::OpenOrStat),
    (&["PID", "FD", "FILE"], "opensnoop", Make::Calls("open")),
    (&["PID", "ERR", "PATH"], "statsnoop", Make::Calls("stat")),
    (&["PID", "COMM", "UID", "SYSCALL", "ARGS"], "setuids", Make::Seen("changes of the user")),
    (&["PID", "ARGS"], "execsnoop", Make::Exec),
    (&["PID", "TID", "COMM", "FUNC"], "trace", Make::Named),
    (&["PID", "COMM", "FUNC", "-"], "trace", Make::Named),
    (&["TIME(ms)", "PID", "COMM", "FUNC"], "threadsnoop", Make::Calls("pthread_create")),
    (&["FUNC", "TIME(s)", "COMM", "PID", "LEN"], "sslsniff", Make::Named),
    (&["PID", "LAT(ms)", "PAGES"], "drsnoop", Make::Calls("direct reclaim")),
    (&["PID", "ZONE", "LAT(ms)"], "compactsnoop", Make::Calls("memory compaction")),
    (&["PID", "SIG", "TPID"], "killsnoop", Make::Calls("kill")),
    (&["COMM", "PID", "SIGNAL", "RETURN"], "killsnoop", Make::Calls("kill")),
    (&["PCOMM", "PID", "EXIT_CODE"], "exitsnoop", Make::Calls("exit")),
    (&["PID", "COMM", "SYS", "RET", "ARGs"], "shmsnoop", Make::Named),
    (&["PID", "COMM", "PROT", "ADDR", "PORT"], "bindsnoop", Make::Calls("bind")),
    (&["PID", "COMM", "PROTO", "BACKLOG", "ADDR", "PORT"], "solisten", Make::Calls("listen")),
    (&["UID", "PID", "COMM", "CAP", "NAME"], "capable", Make::Calls("capability check")),
    (&["COMM", "PID", "AGE(s)", "FILE"], "filelife", Make::Calls("unlink")),
    (&["SADDR:SPORT", "DADDR:DPORT", "STATE"], "tcpdrop", Make::Calls("dropped TCP segment")),
    (&["SKADDR", "OLDSTATE", "NEWSTATE"], "tcpstates", Make::Calls("TCP state change")),
    (&["COMM", "PID", "FUNC"], "funcslower", Make::Named),
    (&["PID", "COMM", "T", "FILE"], "dcsnoop", Make::Calls("name lookup")),
    (&["TIME", "PID", "COMM", "DEVICE"], "mdflush", Make::Calls("md flush")),
    (&["DEVICE", "PAGES", "REASON", "ms"], "writeback", Make::Calls("writeback")),
    (&["START", "TIME(us)", "DESCRIPTION"], "ugc", Make::Calls("garbage collection")),
    (&["PCOMM", "PPID", "COMM", "PID", "SECONDS"], "naptime", Make::Calls("sleep")),
    (&["PID", "COMM", "TYPE", "COUNT"], "bpflist", Make::Seen("processes with their BPF programs and maps")),
    (&["COMM", "PID", "COUNT"], "swapin", Make::Counted("swap-in")),
    (&["COMM", "PID", "PCOMM", "MNT_NS", "CALL"], "mountsnoop", Make::Seen("mounts")),
    (&["ACTION", "TID", "SOCKET", "FD"], "sofdsnoop", Make::Seen("descriptors that were sent over sockets")),
    (&["PID", "CMDLINE", "METHOD/s", "GC/s"], "ustat", Make::Seen("events of runtimes by process")),
    (&["CPU", "PID", "TID", "METHOD"], "uflow", Make::Seen("entries and exits of methods")),
    (&["TIME", "PID", "COMMAND"], "bashreadline", Make::Seen("commands that were typed into shells")),
    (&["TIME", "COMM", "PID", "SIZE", "DATA"], "undump", Make::Seen("what was received over sockets")),
    (&["TIME", "ID", "TYPE", "DESCRIPTION"], "uthreads", Make::Seen("starts and ends of threads")),
    (&["KVM_EXIT_REASON", "COUNT"], "kvmexit", Make::Seen("exits of virtual machines by reason")),
    (&["PPC_HCALL", "COUNT"], "ppchcalls", Make::Seen("hypervisor calls")),
    (&["DISK", "%RND", "%SEQ"], "biopattern", Make::Seen("disks with their share of random requests")),
    (&["TYPE", "#_ALLOCS", "#_BYTES"], "uobjnew", Make::Seen("objects that were allocated, by type")),
    (&["CACHE", "ALLOCS", "BYTES"], "slabratetop", Make::Seen("allocations of the kernel by cache")),
    (&["QueueID", "avg_size"], "netqtop", Make::Seen("queues of a network interface")),
    (&["Driver", "Device", "VQ_Name"], "virtiostat", Make::Seen("queues of virtio devices")),
];

/// A table of a tracer that is none of the above, by its header alone: names in capitals, of which most are ones that tracers
/// use, one a task and one something that is measured, counted or told.
pub(super) fn by_shape(names: &[&str]) -> Option<Make> {
    let is_name =
        |name: &str| name.starts_with(|first: char| first.is_ascii_uppercase() || "%#".contains(first));
    let cells: Vec<Cell> = names.iter().map(|name| Cell::of(name)).collect();
    let has = |wanted: &[Cell]| cells.iter().any(|cell| wanted.contains(cell));
    let known = cells.iter().filter(|cell| **cell != Cell::Other).count();
    let of_task = has(&[Cell::Pid, Cell::Tid]) && cells.contains(&Cell::Comm);
    let is_measured = cells.iter().any(|cell| {
        matches!(
            cell,
            Cell::Latency(_)
                | Cell::Since(_)
                | Cell::Clock
                | Cell::Bytes
                | Cell::Count
                | Cell::Kb
                | Cell::Name
        )
    });
    let whole = of_task && is_measured && known * 3 >= names.len() * 2;
    (whole && names.iter().all(|name| is_name(name))).then_some(match has(&[Cell::Count]) {
        true => Make::Seen("counts by process"),
        false => Make::Seen("events by process"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_known_by_its_shape_or_not_at_all() {
        let known = |header: &str| by_shape(&header.split_whitespace().collect::<Vec<_>>()).is_some();
        assert!(known("TIME(s) PID COMM LAT(us) WIDGET"));
        assert!(known("TIME PID TID COMM COUNT"));
        for other in [
            "PID OWNER SINCE",
            "NAME READY STATUS RESTARTS AGE",
            "CONTAINER ID IMAGE COMMAND CREATED STATUS PORTS NAMES",
            "NAME COUNT",
            "Time Pid Comm of the process",
            "PID COMM",
            "PID COMM ROOM FLOOR DESK",
        ] {
            assert!(!known(other), "{other}");
        }
    }

    #[test]
    fn what_is_made_is_said_in_words() {
        for (_, tool, make) in SNOOPS {
            let says = make.says();
            assert!(says.contains(' ') && !says.ends_with('.'), "{tool}: {says}");
        }
    }
}
