//! mpstat: CPU time by mode for the machine (`all`) and each CPU, interrupts a CPU.

use super::columns::{Column, Is};
use super::sysstat::{Kind, Section, Tables, header_of};
use super::{Tool, line::Line};
use whyslow_model::Metric;

pub(super) static MPSTAT: Tool = Tool { begins, row: |_| false, open: || Tables::open(&KIND) };

static KIND: Kind = Kind { tool, mend: |_, _| () };

fn begins(line: &Line<'_>) -> bool {
    header_of(&KIND, line).is_some()
}

const PERCENT: f64 = 0.01;

/// The modes as mpstat, sar and iostat name them.
pub(super) static CPU_COLUMNS: &[Column] = &[
    ("CPU", Is::Cpu),
    ("%usr", Is::Figure(Metric::CpuUser, PERCENT)),
    ("%user", Is::Figure(Metric::CpuUser, PERCENT)),
    ("%nice", Is::Figure(Metric::CpuNice, PERCENT)),
    ("%sys", Is::Figure(Metric::CpuSystem, PERCENT)),
    ("%system", Is::Figure(Metric::CpuSystem, PERCENT)),
    ("%iowait", Is::Figure(Metric::CpuIowait, PERCENT)),
    ("%irq", Is::Figure(Metric::CpuIrq, PERCENT)),
    ("%soft", Is::Figure(Metric::CpuSoftirq, PERCENT)),
    ("%steal", Is::Figure(Metric::CpuSteal, PERCENT)),
    ("%guest", Is::Figure(Metric::CpuGuest, PERCENT)),
    ("%idle", Is::Figure(Metric::CpuIdle, PERCENT)),
    ("intr/s", Is::Figure(Metric::Interrupts, 1.0)),
];

/// sar has the same modes in another order; tables a NUMA node repeat those a CPU, and tables of each interrupt are
/// read and not kept.
fn tool(names: &[&str]) -> Option<Section> {
    let at = |name: &str| names.iter().position(|is| *is == name);
    let node = at("NODE") == Some(0);
    let by_cpu = at("CPU") == Some(0);
    let modes = at("%irq").zip(at("%steal")).is_some_and(|(irq, steal)| irq < steal);
    let old = at("intr/s").is_some();
    let interrupts = names.len() > 2
        && names.iter().skip(1).all(|name| name.ends_with("/s"))
        && (at("NET_RX/s").is_some() || at("LOC/s").is_some() || at("0/s").is_some());
    let columns = if by_cpu { CPU_COLUMNS } else { &[] };
    ((by_cpu || node) && (modes || old || interrupts)).then_some(("mpstat", columns))
}
