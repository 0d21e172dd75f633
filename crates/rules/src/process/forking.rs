//! What rules about forks of large processes share: how long the kernel copies page tables, and how much memory the parent has.

use crate::gate::gated;
use whyslow_facts::{Facts, ProcessId};
use whyslow_model::{Entity, Measurement, Metric, SampleKind};

/// Functions of the kernel in which a fork copies the page tables of its parent (kernel/fork.c, mm/memory.c).
pub(super) const COPIES: &[&str] =
    &["dup_mm", "copy_page_range", "copy_p4d_range", "copy_pud_range", "copy_pmd_range", "copy_pte_range"];
/// Functions in which it copies a page that parent and child share, when one of them writes to it (mm/memory.c, mm/huge_memory.c).
pub(super) const COPIES_ON_WRITE: &[&str] =
    &["do_wp_page", "wp_page_copy", "do_huge_pmd_wp_page", "hugetlb_wp"];

/// The resident memory of a process, where figures of the host tell it.
pub(super) fn resident(facts: &Facts, process: ProcessId) -> Option<Measurement> {
    let pid = facts.world.threads.process(process).pid?;
    let thing = facts.host.thing(&Entity::Process(pid))?;
    let bytes = thing.mean(Metric::Rss).filter(|bytes| *bytes > 0.0)?;
    Some(Measurement::bytes("resident", bytes as u64))
}

/// The time of samples on a CPU of a process in those functions of the kernel, ns.
#[gated]
pub(super) fn on_cpu(facts: &Facts, process: ProcessId, functions: &[&str]) -> u64 {
    let is_wanted = |name: &str| functions.iter().any(|function| name.starts_with(function));
    facts.samples.in_kernel(SampleKind::OnCpu, process, None, is_wanted).ns
}
