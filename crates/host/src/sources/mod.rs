//! The sources: one file each, with a line in [`SOURCES`].

mod cgroups;
mod cpu;
mod disks;
mod limits;
mod load;
mod locks;
mod memory;
mod network;
mod pressure;
mod processes;
mod sockets;

use crate::context::Context;
use crate::options::SamplerOptions;
use crate::out::Out;

/// A source that is looked at again and again; it keeps what rates need.
pub(crate) trait Look: Send {
    /// Tells what there is, and what is missing.
    fn look(&mut self, context: &mut Context<'_>, out: &mut Out);
}

/// A source of figures.
pub struct HostSource {
    /// Its name in gaps.
    pub name: &'static str,
    /// What it reads.
    pub reads: &'static str,
    /// Opens it.
    pub(crate) open: fn(&SamplerOptions) -> Box<dyn Look>,
}

/// All sources, in the order in which they are asked.
pub static SOURCES: &[HostSource] = &[
    cpu::SOURCE,
    load::SOURCE,
    pressure::SOURCE,
    memory::SOURCE,
    disks::SOURCE,
    network::SOURCE,
    sockets::SOURCE,
    cgroups::SOURCE,
    limits::SOURCE,
    locks::SOURCE,
    processes::SOURCE,
];
