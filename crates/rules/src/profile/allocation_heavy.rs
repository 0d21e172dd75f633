//! # allocation-heavy
//!
//! ## What it is
//! Of the time on a CPU, 15 % and more goes into the allocator.
//!
//! ## Why it is slow
//! An allocation costs a hundred nanoseconds where reusing what is there costs one, and in a language with a
//! collector it is paid for again.
//!
//! ## Example
//! ```text
//! app: _int_malloc 12 %, _int_free 9 % of CPU: a string for each field of each line
//! ```
//!
//! ## What to do instead
//! Reuse buffers, reserve what will be needed, use an arena for what lives equally long; a faster allocator
//! (jemalloc, mimalloc) where the code cannot change.
//!
//! ## When it is wrong
//! At its start a program may do little else: profile it at work. A profile with less than 50 samples is not
//! judged.

use super::beside::Beside;
use super::heavy::{self, Heavy};
use crate::engine::{Need, Rule};
use whyslow_model::Severity;
use whyslow_profile::kinds::CostKind;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "allocation-heavy",
    group: "profile",
    summary: "taking memory and giving it back takes a good part of the CPU time",
    source: include_str!("allocation_heavy.rs"),
    needs: &[Need::Profile],
    check: |facts, out| heavy::check(&HEAVY, SHARE, facts, out),
};

/// Of the CPU time: so much can be had by reusing buffers. A proposal, of no population: see docs/THRESHOLDS.md.
const SHARE: f64 = 0.15;

static HEAVY: Heavy = Heavy {
    kinds: &[CostKind::Allocation],
    touched: false,
    what: "memory allocation",
    why: "Memory is taken and given back for each item instead of being used again.",
    fixes: &[
        "reuse buffers; reserve (with_capacity, make([]T, 0, n)) what will be needed",
        "use an arena for what lives equally long, or values instead of pointers",
        "link jemalloc or mimalloc where the code cannot change",
    ],
    of_runtime: &[],
    verify: "perf record -g -p PID; perf report -S malloc,_int_malloc   (their share falls)",
    beside: Beside::Nothing,
    at_most: Severity::Warning,
};
