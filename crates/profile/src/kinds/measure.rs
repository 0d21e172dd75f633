//! What the values of a profile measure, and how they are said.

use whyslow_model::profile::{Profile, TopReport};
use whyslow_model::{Nanos, figures};

/// What is measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Measure {
    /// Time on a CPU, or samples of it.
    Cpu,
    /// Time, on a CPU or waiting.
    Wall,
    /// Memory in use, bytes or objects.
    MemoryInUse,
    /// Memory allocated since the start, bytes or objects.
    MemoryAllocated,
    /// Time waited for locks and channels, or how often.
    Waiting,
    /// Goroutines or threads, each where it stands.
    Threads,
    /// Something else: page faults, cache misses.
    Other,
}

impl Measure {
    /// By the names that pprof, perf and the runtimes give (`runtime/pprof` of Go; `perf list`).
    pub fn of(kind: &str) -> Measure {
        let is_one_of =
            |names: &[&str]| names.iter().any(|name| kind == *name || kind.starts_with(&format!("{name}:")));
        if is_one_of(&[
            "cpu",
            "samples",
            "cycles",
            "cpu-clock",
            "task-clock",
            "cpu-cycles",
            "cpu_samples",
            "on-cpu",
        ]) {
            Measure::Cpu
        } else if is_one_of(&["wall", "wall-clock", "itimer"]) {
            Measure::Wall
        } else if kind.starts_with("inuse") || kind == "space" || kind == "objects" {
            Measure::MemoryInUse
        } else if kind.starts_with("alloc") {
            Measure::MemoryAllocated
        } else if is_one_of(&["delay", "contentions", "contention", "mutex", "block", "off-cpu"]) {
            Measure::Waiting
        } else if is_one_of(&["goroutine", "goroutines", "threads", "thread", "threadcreate"]) {
            Measure::Threads
        } else {
            Measure::Other
        }
    }

    /// The value of a profile to look at: what the profile says, else the last, as pprof does.
    pub fn default_type(profile: &Profile) -> Option<usize> {
        let last = profile.sample_types.len().checked_sub(1)?;
        Some(profile.default_sample_type.filter(|index| *index <= last).unwrap_or(last))
    }

    /// The whole, in words: `CPU`, `memory in use`.
    pub fn words(self) -> &'static str {
        match self {
            Measure::Cpu => "CPU",
            Measure::Wall => "the time",
            Measure::MemoryInUse => "memory in use",
            Measure::MemoryAllocated => "memory allocated",
            Measure::Waiting => "the time waited",
            Measure::Threads => "the threads",
            Measure::Other => "the samples",
        }
    }
}

/// What a value of a profile measures, with its unit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Measured {
    /// What.
    pub measure: Measure,
    /// The unit: `nanoseconds`, `bytes`, `count`.
    pub unit: String,
}

impl Measured {
    /// Of one value of a profile.
    pub fn of(profile: &Profile, sample_type: usize) -> Measured {
        let value_type = profile.sample_types.get(sample_type).copied().unwrap_or_default();
        Measured {
            measure: Measure::of(profile.str(value_type.kind)),
            unit: profile.str(value_type.unit).to_string(),
        }
    }

    /// Of a table. One of times that does not say what they are is of CPU: what `-top` prints of a CPU profile.
    pub fn of_table(table: &TopReport) -> Measured {
        let measure = match (table.kind.as_str(), table.unit) {
            ("", "nanoseconds") => Measure::Cpu,
            ("", "bytes") => Measure::MemoryInUse,
            (kind, _) => Measure::of(kind),
        };
        Measured { measure, unit: table.unit.to_string() }
    }

    /// A value with its unit, as people read it.
    pub fn value(&self, value: f64) -> String {
        let magnitude = value.abs();
        let text = match self.unit.as_str() {
            "nanoseconds" | "ns" => Nanos::new(magnitude as u64).to_string(),
            "microseconds" | "us" => Nanos::new((magnitude * 1e3) as u64).to_string(),
            "milliseconds" | "ms" => Nanos::new((magnitude * 1e6) as u64).to_string(),
            "seconds" | "s" => Nanos::new((magnitude * 1e9) as u64).to_string(),
            "bytes" | "B" => figures::bytes(magnitude as u64),
            _ => figures::count(magnitude as u64),
        };
        if value < 0.0 { format!("-{text}") } else { text }
    }

    /// A value in seconds, where it is a time.
    pub fn seconds(&self, value: f64) -> Option<f64> {
        match self.unit.as_str() {
            "nanoseconds" | "ns" => Some(value / 1e9),
            "microseconds" | "us" => Some(value / 1e6),
            "milliseconds" | "ms" => Some(value / 1e3),
            "seconds" | "s" => Some(value),
            _ => None,
        }
    }
}

/// A share as people say it: whole per cents from ten on.
pub fn about(share: f64) -> String {
    let percent = share * 100.0;
    if percent >= 9.95 { format!("{percent:.0} %") } else { figures::percent(share) }
}
