//! The relation's part about what makes threads queue for a CPU.

use super::pairs::Explains;

pub(super) static OF_QUEUES: &[Explains] = &[
    Explains {
        cause: "too-many-threads",
        consequences: &["run-queue-delay", "lock-contention"],
        reason: "more threads than CPUs queue for them",
        starts: true,
    },
    Explains {
        cause: "affinity-pinned",
        consequences: &["run-queue-delay"],
        reason: "threads that are bound to one CPU queue for it while others are free",
        starts: true,
    },
    Explains {
        cause: "cpu-throttled",
        consequences: &["run-queue-delay"],
        reason: "threads that a quota stopped queue when they may run again",
        starts: true,
    },
    Explains {
        cause: "priority-inversion",
        consequences: &["run-queue-delay", "lock-contention", "lock-convoy", "wait-chain"],
        reason: "the holder of the lock waits for a CPU, and who waits for the lock waits with it",
        starts: false,
    },
];
