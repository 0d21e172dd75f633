//! Views over tables of the recording, in SQL. Those below are put together; every other table is there as it lies.

/// A view.
#[derive(Debug)]
pub(crate) struct ViewSpec {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) sql: &'static str,
    /// The columns that the tables below do not have, or have with another meaning: name, unit, what it says.
    pub(crate) columns: &'static [(&'static str, &'static str, &'static str)],
}

/// All views, each behind those that it is made of.
pub(crate) static VIEWS: &[ViewSpec] = &[
    ViewSpec {
        name: "calls",
        about: "A system call (of a converted ltrace: a library call), with its path in place and the name of its thread.",
        sql: "SELECT recording, seq, ts, dur, ts + dur AS ended, pid, tid, name_of(recording, pid, tid) AS comm, cpu, syscall, \
              class_of(syscall) AS class, ret, errno, \
              CASE WHEN path IS NULL THEN args ELSE replace(args, '{path}', path) END AS args, \
              CASE WHEN path IS NULL THEN ret_note ELSE replace(ret_note, '{path}', path) END AS note, \
              fd, path, bytes, flags FROM raw.syscalls",
        columns: &[
            ("ended", "ns since the epoch", "When it returned."),
            ("comm", "", "The name of the thread, else of its process."),
            ("class", "", "What the call deals with: file, descriptor, network, wait, sync and others."),
            ("args", "", "The arguments, as strace prints them."),
            ("note", "", "What strace prints behind the result."),
        ],
    },
    ViewSpec {
        name: "processes",
        about: "A process: what was learnt of it last.",
        sql: "SELECT recording, pid, coalesce(last_value(comm ORDER BY seq) FILTER (WHERE comm IS NOT NULL AND (tid IS NULL OR tid = pid)), \
              last_value(comm ORDER BY seq) FILTER (WHERE comm IS NOT NULL)) AS comm, \
              last_value(exe ORDER BY seq) FILTER (WHERE exe IS NOT NULL) AS exe, \
              last_value(cmdline ORDER BY seq) FILTER (WHERE cmdline IS NOT NULL) AS cmdline, \
              last_value(\"user\" ORDER BY seq) FILTER (WHERE \"user\" IS NOT NULL) AS \"user\", \
              last_value(cgroup ORDER BY seq) FILTER (WHERE cgroup IS NOT NULL) AS cgroup, \
              max(parent) AS parent, min(start) AS start, max(\"end\") AS ended, max(fd_limit) AS fd_limit, \
              count(DISTINCT tid) AS threads FROM raw.threads GROUP BY recording, pid",
        columns: &[
            ("ended", "ns since the epoch", "When it ended; null where it did not."),
            ("threads", "", "Threads of it that were seen."),
        ],
    },
    ViewSpec {
        name: "samples",
        about: "A stack of a thread while it ran.",
        sql: "SELECT s.recording, s.ts, s.weight, s.cpu, s.pid, s.tid, name_of(s.recording, s.pid, s.tid) AS comm, \
              u.stack, u.leaf, u.site, u.place, k.stack AS kernel, s.user_stack, s.kernel_stack FROM raw.samples s \
              LEFT JOIN stacks u ON u.recording = s.recording AND u.stack_id = s.user_stack \
              LEFT JOIN stacks k ON k.recording = s.recording AND k.stack_id = s.kernel_stack",
        columns: STACKED,
    },
    ViewSpec {
        name: "offcpu",
        about: "A stack of a thread that left the CPU to wait.",
        sql: "SELECT s.recording, s.ts, s.weight, s.cpu, s.pid, s.tid, name_of(s.recording, s.pid, s.tid) AS comm, \
              u.stack, u.leaf, u.site, u.place, k.stack AS kernel, s.user_stack, s.kernel_stack FROM raw.offcpu s \
              LEFT JOIN stacks u ON u.recording = s.recording AND u.stack_id = s.user_stack \
              LEFT JOIN stacks k ON k.recording = s.recording AND k.stack_id = s.kernel_stack",
        columns: STACKED,
    },
    ViewSpec {
        name: "call_stacks",
        about: "From where a thread made a short call: of each kind of call a few a second, one of many.",
        sql: "SELECT c.recording, c.ts, c.syscall, c.took, c.cpu, c.pid, c.tid, name_of(c.recording, c.pid, c.tid) AS comm, \
              u.stack, u.leaf, u.site, u.place, c.user_stack FROM raw.call_stacks c \
              LEFT JOIN stacks u ON u.recording = c.recording AND u.stack_id = c.user_stack",
        columns: STACKED,
    },
    ViewSpec {
        name: "host",
        about: "One figure or word of a thing of the host, in one look.",
        sql: "SELECT recording, ts, dur, tool, kind, name, pid, tid, metric, value, text FROM raw.host WHERE metric IS NOT NULL",
        columns: &[],
    },
];

const STACKED: &[(&str, &str, &str)] = &[
    ("comm", "", "The name of the thread, else of its process."),
    ("stack", "", "Its frames in user code, from the outermost to the innermost, separated by semicolons."),
    ("leaf", "", "The innermost of them."),
    ("site", "", "The innermost function of the program's own code."),
    ("place", "", "Its source file and line."),
    ("kernel", "", "The frames in the kernel."),
];

/// Recorded tables that are in the schema `raw` alone: a view or a computed table has their name.
pub(crate) fn is_raw_only(table: &str) -> bool {
    table == "syscalls"
        || VIEWS.iter().any(|view| view.name == table)
        || crate::derived::DERIVED.iter().any(|derived| derived.name == table)
}
