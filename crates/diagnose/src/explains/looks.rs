//! What causes of several kinds look like, by the rules that see it.

/// What opening, reading and decoding the same bytes again looks like.
pub(super) const READ_AND_DECODED: &[&str] = &[
    "open-close-churn",
    "small-reads",
    "seek-per-read",
    "slow-file-io",
    "syscall-heavy",
    "text-parsing",
    "serialization-heavy",
    "crypto-compress-heavy",
    "allocation-heavy",
    "gc-pressure",
    "gil-contention",
    "cpu-bound",
];
/// What the start of an interpreter looks like, call by call.
pub(super) const OF_STARTS: &[&str] = &[
    "fork-per-task",
    "exec-path-search",
    "path-search-miss",
    "repeated-stat",
    "open-close-churn",
    "small-reads",
    "mmap-churn",
    "minor-fault-storm",
    "close-range-loop",
    "directory-rescan",
    "archive-reread",
    "file-reread",
    "config-reread",
    "seek-per-read",
    "syscall-heavy",
    "run-queue-delay",
    "cpu-bound",
];
/// The same of certificates, which are a file that is read over as well.
pub(super) const CERTIFICATES_READ: &[&str] = &[
    "file-reread",
    "open-close-churn",
    "config-reread",
    "small-reads",
    "syscall-heavy",
    "crypto-compress-heavy",
    "serialization-heavy",
    "text-parsing",
    "allocation-heavy",
    "connection-per-request",
    "gil-contention",
    "event-loop-blocked",
    "cpu-bound",
];
pub(super) const MANY_CALLS: &[&str] = &["syscall-heavy", "cpu-bound", "small-writes"];
pub(super) const POLLED: &[&str] = &["syscall-heavy", "cpu-bound", "event-loop-blocked", "run-queue-delay"];
pub(super) const FAULTS: &[&str] = &["syscall-heavy", "minor-fault-storm"];
pub(super) const CALLS: &str = "the kernel's CPU time is that of these calls";
pub(super) const COMPUTES: &str = "it is what the program computes";
/// The same, with directories that are listed and files that are asked for.
pub(super) const READ_AND_LISTED: &[&str] = &[
    "directory-rescan",
    "open-close-churn",
    "config-reread",
    "repeated-stat",
    "stat-per-entry",
    "small-reads",
    "slow-file-io",
    "syscall-heavy",
    "text-parsing",
    "cpu-bound",
];
pub(super) const SYNCED: &[&str] =
    &["fsync-per-write", "slow-file-io", "small-writes", "journal-commit-stall", "wait-chain"];
pub(super) const SAVES: &str =
    "each save of an item waits for the device, and for the journal of its file system";
pub(super) const UNEVEN: &str = "the others wait for what the one reads and writes";
pub(super) const WOKEN: &[&str] = &["syscall-heavy", "cpu-bound", "run-queue-delay"];
pub(super) const SLEEPS: &str = "what wakes the thread are the sleeps between its looks";
