//! Where the watched threads' time goes: on a CPU, waiting for one and who had it meanwhile, blocked; and who woke them.

mod meanwhile;

pub(crate) use meanwhile::{MeanwhileRow, MeanwhileSums, MeanwhileTables};

use super::{Program, at_end, by_section, kind, object};
use crate::bpf::layout::Settings;
use libbpf_rs::btf::Btf;
use libbpf_rs::btf::types::Var;
use std::sync::OnceLock;

pub(super) static SCHED: Program = Program {
    name: "sched",
    summary: "the scheduler: time on a CPU, runnable and who ran meanwhile, blocked; wake-ups",
    cost: "0.2 to 0.3 us a switch of a watched thread, 0.08 us of any other, 0.2 us a wake-up; 8 us a wait of a millisecond or more, for its kernel stack, and 6 us as its call returns, for the user's and its copy",
    tables: &["sched", "wakeups", "offcpu", "meanwhile"],
    // Stretches come this way only where they are under way at the end; of who ran meanwhile the kernel's side counts turns.
    rare: &[("offcpu", &[kind::OFFCPU]), ("sched", &[kind::STRETCH]), ("meanwhile", &[kind::MEANWHILE])],
    wanted: |options| options.sched,
    needed: true,
    object: object!("sched"),
    attach: &[
        &[by_section("sched_switch")],
        &[by_section("sched_waking").unless(tells_interrupts)],
        &[by_section("sched_waking_told").unless(|settings| !tells_interrupts(settings))],
        &[by_section("sched_wakeup_new")],
        &[by_section("irq_entry").unless(needs_no_interrupts)],
        &[by_section("irq_exit").unless(needs_no_interrupts)],
        &[by_section("timer_entry").unless(needs_no_interrupts)],
        &[by_section("timer_exit").unless(needs_no_interrupts)],
        &[by_section("softirq_entry").unless(needs_no_interrupts)],
        &[by_section("softirq_exit").unless(needs_no_interrupts)],
        &[at_end("stretches_left")],
        &[at_end("waits_left"), at_end("waits_left_kernel")],
    ],
};

/// Whether the kernel tells itself what a CPU is in the middle of (context.bpf.h): its type information and its list of symbols have the
/// variable, the latter by CONFIG_KALLSYMS_ALL. Else programs at each interrupt do.
fn tells_interrupts(_: &Settings) -> bool {
    static TELLS: OnceLock<bool> = OnceLock::new();
    let tells = || {
        let Ok(types) = Btf::from_vmlinux() else { return false };
        let has_type = |name: &&str| types.type_by_name::<Var<'_>>(name).is_some();
        let Some(name) = ["__preempt_count", "pcpu_hot"].into_iter().find(has_type) else { return false };
        let symbols = std::fs::read("/proc/kallsyms").unwrap_or_default();
        let is_it = |line: &[u8]| line.strip_suffix(name.as_bytes()).is_some_and(|rest| rest.ends_with(b" "));
        symbols.split(|byte| *byte == b'\n').any(is_it)
    };
    *TELLS.get_or_init(tells)
}

/// Nobody asks from where threads are woken, or the kernel tells it.
fn needs_no_interrupts(settings: &Settings) -> bool {
    settings.wakeups == 0 || tells_interrupts(settings)
}
