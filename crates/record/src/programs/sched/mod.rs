//! Where the watched threads' time goes: on a CPU, waiting for one and who had it meanwhile, blocked; and who woke them.

mod meanwhile;

pub(crate) use meanwhile::{MeanwhileRow, MeanwhileSums, MeanwhileTables};

use super::{Program, at_end, by_section, kind, object};
use crate::bpf::layout::Settings;

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
        &[by_section("sched_waking")],
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

/// Nobody asks from where threads are woken (context.bpf.h).
fn needs_no_interrupts(settings: &Settings) -> bool {
    settings.wakeups == 0
}
