//! # syscall-heavy
//!
//! ## What it is
//! Of the time on a CPU, 25 % and more is in system calls.
//!
//! ## Why it is slow
//! Each call costs its way into the kernel and back, and what the kernel does for it; many small ones cost more
//! than a few large ones.
//!
//! ## Example
//! ```text
//! cpu.pprof: syscall.Syscall 33.5 % of CPU: /proc/net/tcp is read 4 kB at a time
//! ```
//!
//! ## What to do instead
//! See which calls they are (whyslow summary, strace -c), then make fewer and larger ones.
//!
//! ## When it is wrong
//! A proxy or a file server is there to make system calls: it is a notice, never more. A CPU profile does not say which calls they are or how
//! large: a trace of the same process beside it does, and its rules (small-reads, small-writes, repeated-stat) are more exact.

use super::beside::Beside;
use super::heavy::{self, Heavy};
use crate::engine::{Need, Rule};
use whyslow_model::Severity;
use whyslow_profile::kinds::CostKind;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "syscall-heavy",
    group: "profile",
    summary: "system calls take a good part of the CPU time",
    source: include_str!("syscall_heavy.rs"),
    needs: &[Need::Profile],
    check: |facts, out| heavy::check(&HEAVY, SHARE, facts, out),
};

/// Of the CPU time: entering and leaving the kernel, where batching can halve it. A proposal, of no population: see docs/THRESHOLDS.md.
const SHARE: f64 = 0.25;

static HEAVY: Heavy = Heavy {
    kinds: &[CostKind::SystemCall],
    asked: false,
    made_by: None,
    what: "system calls",
    why: "A good part of the CPU time is the kernel's, on the program's behalf.",
    fixes: &[
        "see which calls: whyslow diagnose -p PID, or strace -c -f -p PID",
        "make fewer and larger ones: buffers of 64 kB, writev, sendmmsg, io_uring; keep what was asked before",
    ],
    of_runtime: &[],
    verify: "strace -c -f -p PID   (calls per second fall)",
    beside: Beside::Calls,
    at_most: Severity::Notice,
    step_of: None,
    is_often_meant: false,
};
