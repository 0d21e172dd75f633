//! The relation's part about what makes files and timers slow, seen in the kernel's stacks and in calls.

use super::looks::{CALLS, READ_AND_LISTED, SAVES, SLEEPS, SYNCED, UNEVEN, WOKEN};
use super::pairs::Explains;

pub(super) static OF_FILES: &[Explains] = &[
    Explains { cause: "rename-fsync-storm", consequences: SYNCED, reason: SAVES, starts: false },
    Explains { cause: "io-imbalance", consequences: SYNCED, reason: UNEVEN, starts: false },
    Explains {
        cause: "overlay-copy-up",
        consequences: &["slow-file-io", "disk-saturated", "journal-commit-stall", "writeback-throttle"],
        reason: "the open that takes long copies the whole file first",
        starts: false,
    },
    Explains {
        cause: "misaligned-io",
        consequences: &["slow-file-io", "random-io", "disk-saturated", "small-writes"],
        reason: "a write of a part of a page waits until the page was read",
        starts: false,
    },
    Explains {
        cause: "fuse-context-switch",
        consequences: READ_AND_LISTED,
        reason: "each call goes to the file system's program and back, which makes small ones dear",
        starts: false,
    },
    Explains {
        cause: "cgroup-stat-cost",
        consequences: READ_AND_LISTED,
        reason: "the kernel adds the figures of each group up and writes them as text",
        starts: false,
    },
    Explains {
        cause: "negative-dentry-bloat",
        consequences: &["syscall-heavy", "cpu-bound", "slow-file-io", "repeated-stat"],
        reason: "each new name is looked up in the file system",
        starts: false,
    },
    Explains { cause: "timer-wakeup-storm", consequences: WOKEN, reason: CALLS, starts: false },
    Explains { cause: "sleep-polling", consequences: &["timer-wakeup-storm"], reason: SLEEPS, starts: true },
    Explains {
        cause: "mmap-lock-contention",
        consequences: &["mmap-churn", "madvise-churn", "minor-fault-storm", "syscall-heavy", "cpu-bound"],
        reason: "what the calls take is mostly the wait for the lock of the memory map",
        starts: false,
    },
];

/// What holds only where both findings are about the same path, or one of them names none.
pub(super) static OF_ONE_PATH: &[Explains] = &[Explains {
    cause: "sleep-polling",
    consequences: &["repeated-stat"],
    reason: "the path is asked for after each sleep",
    starts: false,
}];
