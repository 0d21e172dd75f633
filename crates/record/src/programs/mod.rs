//! The BPF programs: a folder each, a line each in [`PROGRAMS`].

use crate::bpf::layout::kind;
use crate::bpf::program::{at_end, at_start, by_section, by_timer, on_demand};

mod block;
mod calls;
mod events;
mod files;
mod net;
pub(crate) mod probes;
mod samples;
mod sched;
mod signals;
mod tasks;
mod totals;

pub use crate::bpf::program::Program;
pub(crate) use events::RareEvents;
pub(crate) use files::{FileRow, FileTables};
pub(crate) use sched::{MeanwhileRow, MeanwhileTables};

#[cfg(not(target_arch = "x86_64"))]
compile_error!("no BPF programs for this architecture yet: build with --no-default-features");

/// The compiled program of that name: made from `<name>/<name>.bpf.c` by `cargo xtask bpf`.
macro_rules! object {
    ($name:literal) => {{
        #[repr(C, align(8))]
        struct Aligned<T: ?Sized>(T);
        // libbpf reads the ELF headers in place.
        static OBJECT: &Aligned<[u8]> =
            &Aligned(*include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/bpf/", $name, ".bpf.o")));
        &OBJECT.0
    }};
}
pub(crate) use object;

/// All programs. `tasks` comes first: it makes the maps that the others share, and tells who is watched.
pub static PROGRAMS: &[&Program] = &[
    &tasks::TASKS,
    &calls::CALLS,
    &sched::SCHED,
    &samples::SAMPLES,
    &block::BLOCK,
    &net::NET,
    &signals::SIGNALS,
    &totals::TOTALS,
    &files::FILES,
    &probes::PROBES,
];
