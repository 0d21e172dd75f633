//! # gc-pressure
//!
//! ## What it is
//! Of the time on a CPU, 15 % and more goes into garbage collection: the collector's threads, and what allocating
//! goroutines and threads must help.
//!
//! ## Why it is slow
//! Work that nobody asked for, done as often as memory is thrown away. It also takes CPUs from the program while it
//! runs, and pauses it.
//!
//! ## Example
//! ```text
//! cpu.pprof: garbage collection 29.5 % of CPU: a goroutine and three strings for every line that is read
//! ```
//!
//! ## What to do instead
//! Allocate less in the function that is named: reuse buffers, parse bytes in place, take slices of the size that
//! is needed. Then give the collector more room (GOGC, GOMEMLIMIT; -Xmx; node --max-semi-space-size).
//!
//! ## When it is wrong
//! A batch job with a large heap that lives long pays for the heap's size, not for garbage. A profile with less
//! than 50 samples is not judged, and a program that keeps less than a tenth of a CPU busy neither. What an
//! interpreter collects once more as it ends does not count.

use super::beside::Beside;
use super::heavy::{self, Heavy};
use crate::engine::{Need, Rule};
use whyslow_model::Severity;
use whyslow_profile::kinds::{CostKind, Runtime};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "gc-pressure",
    group: "profile",
    summary: "the collector takes a good part of the CPU time",
    source: include_str!("gc_pressure.rs"),
    needs: &[Need::SampledTime],
    check: |facts, out| heavy::check(&HEAVY, SHARE, facts, out),
};

/// Of the CPU time. HotSpot's G1 sizes its heap so that collections take at most a thirteenth, 8 % (GCTimeRatio=12, JDK's
/// g1_globals.hpp): twice that is a heap that is too small or too much garbage.
const SHARE: f64 = 0.15;

static HEAVY: Heavy = Heavy {
    kinds: &[CostKind::GarbageCollection],
    asked: false,
    made_by: Some((&[CostKind::Allocation, CostKind::GarbageCollection], "most memory is taken in")),
    what: "garbage collection",
    why: "Memory is thrown away as fast as it is taken, and the collector runs that often.",
    fixes: &["allocate less where most is taken: reuse buffers, parse in place, size containers beforehand"],
    of_runtime: &[
        (
            Some(Runtime::Go),
            "Go: find it by go tool pprof -sample_index=alloc_space; reuse by sync.Pool; room by GOGC=200 or GOMEMLIMIT",
        ),
        (Some(Runtime::Java), "Java: find it by async-profiler -e alloc; room by -Xmx and -Xmn"),
        (Some(Runtime::Node), "Node.js: find it by node --heap-prof; room by node --max-semi-space-size"),
        (
            Some(Runtime::Python),
            "Python: find it by tracemalloc; fewer collections by gc.freeze() and gc.set_threshold()",
        ),
    ],
    verify: "whyslow profile cpu.pprof   (the share of garbage collection falls)",
    beside: Beside::Nothing,
    at_most: Severity::Warning,
    step_of: None,
    is_often_meant: false,
};
