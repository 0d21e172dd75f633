//! # allocation-heavy
//!
//! ## What it is
//! Of the time on a CPU, 15 % and more goes into the allocator, with the pages that it asks the kernel for; 35 % and more in languages whose
//! interpreter takes memory for each value (Python, Ruby, PHP, Perl).
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
use whyslow_profile::kinds::{Account, CostKind, Runtime};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "allocation-heavy",
    group: "profile",
    summary: "taking memory and giving it back takes a good part of the CPU time",
    source: include_str!("allocation_heavy.rs"),
    needs: &[Need::SampledTime],
    check: |facts, out| {
        let boxes = |account: &Account| account.runtimes.iter().any(|runtime| runtime.boxes_all_values());
        heavy::check_from(&HEAVY, |account| if boxes(account) { BOXED } else { SHARE }, facts, out);
    },
};

/// Of the CPU time: so much can be had by reusing buffers. A proposal, of no population: see docs/THRESHOLDS.md.
const SHARE: f64 = 0.15;

/// In a language whose interpreter takes memory for each value: ordinary code spends a tenth to a fifth so, whatever it does.
const BOXED: f64 = 0.35;

static HEAVY: Heavy = Heavy {
    kinds: &[CostKind::Allocation],
    asked: false,
    made_by: None,
    what: "memory allocation",
    why: "Memory is taken and given back for each item instead of being used again.",
    fixes: &[
        "reuse buffers, and reserve at once what will be needed",
        "use an arena for what lives equally long, or values instead of pointers",
    ],
    of_runtime: &[
        (
            Some(Runtime::Go),
            "Go: make([]T, 0, n) and strings.Builder.Grow; sync.Pool for buffers; go build -gcflags=-m shows what escapes",
        ),
        (
            Some(Runtime::Java),
            "Java: no boxing in loops (int[] instead of List<Integer>), StringBuilder of the right size; async-profiler -e alloc shows where",
        ),
        (
            Some(Runtime::Python),
            "Python: fewer small objects (slots, arrays, numpy), generators instead of lists; tracemalloc shows where",
        ),
        (
            Some(Runtime::Node),
            "Node.js: Buffer.allocUnsafe and reuse, no new closures and arrays in loops; node --heap-prof shows where",
        ),
        (None, "C, C++, Rust: reserve and with_capacity; jemalloc or mimalloc where the code cannot change"),
    ],
    verify: "whyslow diff before.pprof after.pprof   (memory allocation falls)",
    beside: Beside::Nothing,
    at_most: Severity::Warning,
    step_of: None,
    is_often_meant: false,
};
