//! The BPF programs: a folder each, a line each in [`PROGRAMS`].

use crate::bpf::layout::kind;
use crate::options::Options;

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

pub(crate) use events::RareEvents;
pub(crate) use files::{FileRow, FileTables};

/// One BPF object: what it records and what it costs.
pub struct Program {
    /// Its folder and name.
    pub name: &'static str,
    /// What it records, one line.
    pub summary: &'static str,
    /// What it costs, one line, as measured on the development machine (two virtual CPUs): by the kernel's own statistics of
    /// BPF programs (`kernel.bpf_stats_enabled`), or by a loop of calls with it and without; medians of three runs.
    /// `about`: from fewer.
    pub cost: &'static str,
    /// The tables that it fills.
    pub tables: &'static [&'static str],
    /// Of these, the ones that come through the ring of rare records, with the kinds of record that are their rows.
    pub(crate) rare: &'static [(&'static str, &'static [u8])],
    /// Whether it is to be loaded.
    pub(crate) wanted: fn(&Options) -> bool,
    /// Without it there is no recording; any other is left out, with a note, where the kernel refuses it.
    pub(crate) needed: bool,
    /// The compiled object.
    pub(crate) object: &'static [u8],
    /// The programs to attach, first choice first: the first of a group that the kernel takes is used.
    pub(crate) attach: &'static [&'static [Attach]],
}

/// One function of an object and how it is attached.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attach {
    /// The function in the C source.
    pub(crate) function: &'static str,
    /// By which way.
    pub(crate) by: By,
}

/// A way to attach.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum By {
    /// As its section says (tp_btf, raw_tp).
    Section,
    /// By a timer on each CPU, [`Options::sample_hz`] times a second.
    Timer,
    /// Not attached: run when asked for (iterators).
    OnDemand,
    /// Not attached: run once the watched are known, and again where further ones are.
    AtStart,
    /// Not attached: run once the recording ends, while the threads are still watched.
    AtEnd,
}

const fn by_section(function: &'static str) -> Attach {
    Attach { function, by: By::Section }
}

const fn by_timer(function: &'static str) -> Attach {
    Attach { function, by: By::Timer }
}

const fn at_start(function: &'static str) -> Attach {
    Attach { function, by: By::AtStart }
}

const fn at_end(function: &'static str) -> Attach {
    Attach { function, by: By::AtEnd }
}

const fn on_demand(function: &'static str) -> Attach {
    Attach { function, by: By::OnDemand }
}

macro_rules! object {
    ($name:literal) => {{
        #[repr(C, align(8))]
        struct Aligned<T: ?Sized>(T);
        // libbpf reads the ELF headers in place.
        static OBJECT: &Aligned<[u8]> =
            &Aligned(*include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".bpf.o")));
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
