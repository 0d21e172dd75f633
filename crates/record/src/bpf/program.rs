//! One BPF object: what it records, what it costs, how its functions are attached.

use crate::bpf::layout::Settings;
use crate::options::Options;

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
    /// Where that holds, nobody needs what it does: it is not loaded.
    pub(crate) is_unneeded: fn(&Settings) -> bool,
}

impl Attach {
    /// Not where that holds.
    pub(crate) const fn unless(self, is_unneeded: fn(&Settings) -> bool) -> Attach {
        Attach { is_unneeded, ..self }
    }

    const fn by(by: By, function: &'static str) -> Attach {
        Attach { function, by, is_unneeded: |_| false }
    }
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

pub(crate) const fn by_section(function: &'static str) -> Attach {
    Attach::by(By::Section, function)
}

pub(crate) const fn by_timer(function: &'static str) -> Attach {
    Attach::by(By::Timer, function)
}

pub(crate) const fn at_start(function: &'static str) -> Attach {
    Attach::by(By::AtStart, function)
}

pub(crate) const fn at_end(function: &'static str) -> Attach {
    Attach::by(By::AtEnd, function)
}

pub(crate) const fn on_demand(function: &'static str) -> Attach {
    Attach::by(By::OnDemand, function)
}
