//! # lock-heavy
//!
//! ## What it is
//! Of the time on a CPU, 10 % and more goes into mutexes, monitors and futexes: spinning, sleeping and waking each
//! other.
//!
//! ## Why it is slow
//! That is only what fighting for a lock costs in CPU time. The waiting itself does not show in a CPU profile and
//! is more.
//!
//! ## Example
//! ```text
//! cpu.pprof: runtime.futex 20.8 % of CPU: every line of a file is handled under one lock by a goroutine of its own
//! ```
//!
//! ## What to do instead
//! Hold the lock for less, or take it once for many items; give each thread a part of its own and join them at the
//! end.
//!
//! ## When it is wrong
//! An idle Go program parks its threads by futex: that counts as scheduling where there are stacks. A table of
//! functions cannot tell them apart, so that its confidence is lower.

use super::beside::Beside;
use super::heavy::{self, Heavy};
use crate::engine::{Need, Rule};
use whyslow_model::Severity;
use whyslow_profile::kinds::{CostKind, Runtime};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "lock-heavy",
    group: "profile",
    summary: "taking and handing over locks takes a good part of the CPU time",
    source: include_str!("lock_heavy.rs"),
    needs: &[Need::Profile],
    check: |facts, out| heavy::check(&HEAVY, SHARE, facts, out),
};

/// Of the CPU time: an uncontended lock takes some 20 ns and no system call, so that even a tenth means that threads meet.
const SHARE: f64 = 0.10;

static HEAVY: Heavy = Heavy {
    kinds: &[CostKind::Locking],
    asked: false,
    made_by: None,
    what: "locking",
    why: "Threads meet in a lock, and waking each other costs more than what they do under it.",
    fixes: &[
        "take the lock once for many items, or hold it for the shared line only",
        "give each thread its own part and join them at the end; shard the lock",
        "see who waits: whyslow locks",
    ],
    of_runtime: &[
        (
            Some(Runtime::Go),
            "Go: /debug/pprof/mutex names the holders; sync.RWMutex or atomic.Pointer for what is mostly read",
        ),
        (
            Some(Runtime::Java),
            "Java: jstack names the monitor; ConcurrentHashMap, LongAdder, or StampedLock instead of synchronized",
        ),
        (Some(Runtime::Python), "Python: processes instead of threads for what computes"),
    ],
    verify: "whyslow diff before.pprof after.pprof   (locking and futex falls)",
    beside: Beside::Nothing,
    at_most: Severity::Warning,
    step_of: None,
    is_often_meant: false,
};
