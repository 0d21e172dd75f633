//! The live host as figures: what /proc, /sys, control groups and netlink tell, sampled at an interval.
//!
//! A [`Sampler`] has its sources opened once; each [`Sampler::sample`] asks them all. What is missing or forbidden is a
//! [`Gap`], and the rest works.

mod aside;
mod context;
mod files;
mod mounts;
mod netlink;
mod options;
mod out;
mod pace;
mod sampler;
mod sources;

pub use options::{Root, SamplerOptions};
pub use out::Gap;
pub use sampler::{HostError, Sample, SampleCost, Sampler, own_cpu};
pub use sources::{HostSource, SOURCES};

/// The name under which the sampler's own figures go.
pub const TOOL: &str = "/proc";
