//! Every syscall of the watched threads, in full or counted.

use super::{Program, at_end, by_section, kind, object};
use crate::options::Mode;

pub(super) static CALLS: Program = Program {
    name: "calls",
    summary: "syscalls: number, arguments, result, time; or counts with histograms",
    cost: "as measured (bench/runs/2026-11-22-live.txt, bare getppid 254 ns): 360 ns a call of a watched thread, 200 ns of any other",
    tables: &["syscalls", "counts", "call_stacks"],
    // Calls that threads are in as the recording ends.
    rare: &[("syscalls", &[kind::CALL]), ("call_stacks", &[kind::CALL_STACK])],
    wanted: |options| options.mode != Mode::None,
    needed: true,
    object: object!("calls"),
    attach: &[
        &[by_section("calls_enter"), by_section("calls_enter_raw")],
        &[
            by_section("calls_exit").unless(|settings| settings.files_with_calls != 0),
            by_section("calls_exit_raw").unless(|settings| settings.files_with_calls != 0),
        ],
        &[
            by_section("calls_exit_files").unless(|settings| settings.files_with_calls == 0),
            by_section("calls_exit_files_raw").unless(|settings| settings.files_with_calls == 0),
        ],
        &[by_section("calls_task_exit")],
        &[at_end("calls_in_flight")],
    ],
};
